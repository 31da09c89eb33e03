// One end of a connection to the launcher of a running job, and which jobs there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/control/answer.h"
#include "launch/control/request.h"
#include "os/unix_socket.h"

namespace tutti::launch::control {

class Client {
 public:
  // peer_lost: nobody listens there any more.
  static Result<Client> connect(const std::string& path, Deadline deadline);

  Status send(const Request& request, Deadline deadline);
  // nullopt: it has not come whole. peer_lost: the job is over.
  Result<std::optional<Answer>> try_receive();
  // Both, waiting. A refusal is a failure.
  Result<Answer> ask(const Request& request, Deadline deadline);
  // Until the other side closes, which is when the job is over.
  Status wait_for_end(Deadline deadline);
  int descriptor() const { return socket_.descriptor(); }

 private:
  explicit Client(os::UnixSocket socket) : socket_(std::move(socket)) {}
  os::UnixSocket socket_;
  std::string incoming_;
};

struct Entry {
  std::string name;
  std::string path;  // of the socket
  bool operator==(const Entry&) const = default;
};

// The jobs that have a socket in these folders, by name. A socket that nobody serves, whose launcher was killed, is
// removed. Folders that are missing or not this user's alone are passed over.
std::vector<Entry> find_jobs(const std::vector<std::string>& folders);

// The one of that name, or the only one whose name begins so; empty: the only one. The failure names those that run.
Result<Entry> choose_job(const std::vector<Entry>& jobs, std::string_view name);

}  // namespace tutti::launch::control
