// Connects to an actor: tries its addresses one shortly after the other and takes the first that proves to be it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/world.h"
#include "os/event_loop.h"
#include "os/tcp_socket.h"
#include "rpc/greeting.h"
#include "tutti/status.h"

namespace tutti::rpc {

struct Call {
  Contact to;
  Purpose purpose = Purpose::control;
  Bytes announcement = {};
  std::optional<os::TcpAddress> from = {};  // the local address to use
  os::TcpOptions options = {};
  Deadline deadline = {};
};

class Dial {
 public:
  // Failures: peer_lost when at every address nobody listens or another actor of the job does, so that the actor has
  // ended; timed_out at the deadline; otherwise network. The call may destroy the Dial.
  using Done = std::function<void(Result<Greeted>)>;

  // All on the thread of the loop; `done` is called from the loop, once, unless the Dial is destroyed before.
  Dial(os::EventLoop& loop, const Credentials& credentials, Call call, Done done);
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;
  ~Dial();

 private:
  struct Attempt {
    std::string address;
    std::optional<os::TcpSocket> socket = {};  // until it is connected
    std::optional<Greeting> greeting = {};
    os::EventLoop::Watch watch = {};
    os::EventLoop::Timer retry = {};
    int tries = 0;
    bool is_over = false;
    Status why = {};
  };

  void start_next();
  void start(Attempt& attempt);
  Status start_connect(Attempt& attempt);
  void advance(Attempt& attempt);
  Result<bool> try_advance(Attempt& attempt);
  void stop(Attempt& attempt);
  void end(Attempt& attempt, const Status& why);
  void succeed(Attempt& attempt);
  void give_up();
  Status failure() const;
  void finish(Result<Greeted> result);

  os::EventLoop& loop_;
  const Credentials& credentials_;
  Call call_;
  Done done_;
  std::vector<Attempt> attempts_;
  std::size_t started_count_ = 0;
  os::EventLoop::Timer next_start_ = {};
  os::EventLoop::Timer deadline_ = {};
};

}  // namespace tutti::rpc
