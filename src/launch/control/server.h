// Serves the control socket of a running job on the launcher's loop: who asks may see the job and end it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/control/answer.h"
#include "launch/control/request.h"
#include "launch/job_view.h"
#include "os/event_loop.h"
#include "os/unix_socket.h"

namespace tutti::launch::control {

class Server {
 public:
  // Serves `FOLDER/NAME.sock` in the first of the folders that is usable. Where a job of that name runs already, "-2",
  // "-3" and so on is added. A failure is no reason not to run the job: it only cannot be seen. All is gone with the
  // server, the clients' connections too: that is how they learn that the job is over. `job` outlives the server and
  // does not destroy it from within a call.
  static Result<std::unique_ptr<Server>> create(os::EventLoop& loop, JobView& job, std::string_view wished_name,
                                                const std::vector<std::string>& folders);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  const std::string& name() const { return name_; }  // what answers call the job, whatever its status says
  const std::string& path() const { return path_; }
  std::size_t client_count() const { return clients_.size(); }

  static constexpr std::size_t kClientsMax = 64;  // people and scripts that watch one job

 private:
  struct Client {
    explicit Client(os::UnixSocket connected) : socket(std::move(connected)) {}
    os::UnixSocket socket;
    os::EventLoop::Watch watch = {};
    std::string incoming = {};
    std::string outgoing = {};
    std::size_t written = 0;
    bool is_answering = false;  // one request after the other: nothing is read before the answer is written
    bool is_closing = false;    // after what is left to write
    bool is_idle() const { return !is_answering && !is_closing && outgoing.empty(); }
    bool has_request() const { return incoming.find('\n') != std::string::npos; }
  };
  using Clients = std::map<std::uint64_t, Client>;

  Server(os::EventLoop& loop, JobView& job, os::UnixListener listener);
  void accept();
  bool may_ask(const os::UnixSocket& socket) const;
  void react(std::uint64_t id);
  void advance(std::uint64_t id);
  bool read(Client& client);
  void take_request(std::uint64_t id, Client& client);
  void take(std::uint64_t id, Client& client, const Request& request);
  void answer(Client& client, const Answer& answer);
  Answer status_answer() const;
  void refuse(Client& client, const Status& why);
  bool write(Client& client);
  void remove(std::uint64_t id);

  os::EventLoop& loop_;
  JobView& job_;
  os::UnixListener listener_;
  std::string name_;
  std::string path_;
  os::EventLoop::Watch watch_ = {};
  os::EventLoop::Timer rest_ = {};  // until accepting is tried again, after it failed
  std::uint64_t next_id_ = 1;
  Clients clients_;
  std::shared_ptr<bool> is_alive_;  // shared with what waits for samples, which may come when the server is gone
};

}  // namespace tutti::launch::control
