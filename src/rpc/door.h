// Where others connect to: lets in who proves to be of the job, and keeps strangers few, short and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <unordered_set>
#include <vector>

#include "os/event_loop.h"
#include "os/tcp_socket.h"
#include "rpc/counters.h"
#include "rpc/greeting.h"
#include "tutti/status.h"

namespace tutti::rpc {

struct DoorLimits {
  // Who has not proved anything yet. More processes of a job than that may come at once: the rest waits in the
  // kernel's queue, and who is dropped tries again.
  std::size_t visitors_max = 64;
  std::chrono::nanoseconds greeting_time = std::chrono::seconds(5);
};

class Door {
 public:
  using Enter = std::function<void(Greeted)>;

  Door(os::EventLoop& loop, const Credentials& credentials, const DoorLimits& limits, Counters& counters, Enter enter)
      : loop_(loop), credentials_(credentials), limits_(limits), counters_(counters), enter_(std::move(enter)) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() { close(); }

  Status open(os::TcpListener listener);
  std::vector<os::TcpAddress> addresses() const;
  void close();  // for newcomers and visitors

 private:
  struct Visitor {
    Greeting greeting;
    os::EventLoop::Watch watch = {};
    os::EventLoop::Timer deadline = {};
  };
  using Place = std::list<Visitor>::iterator;
  struct Opening {
    os::TcpListener listener;
    os::EventLoop::Watch watch = {};
  };

  void accept(Opening& opening);
  void pause(Opening& opening);
  void welcome(os::TcpSocket socket);
  void advance(Place visitor);
  void drop(Place visitor, Fault fault);
  void crowd_out();
  void remove(Place visitor);
  void let_in(Place visitor);
  bool is_replay(const Visitor& visitor) const;
  void remember(const Hello& hello);

  os::EventLoop& loop_;
  const Credentials& credentials_;
  DoorLimits limits_;
  Counters& counters_;
  Enter enter_;
  std::list<Opening> openings_;
  std::list<Visitor> visitors_;  // the oldest first
  os::EventLoop::Timer pause_ = {};
  std::unordered_set<std::uint64_t> nonces_;  // starts of those that were used by who was let in, the last few
  std::deque<std::uint64_t> nonces_in_order_;
};

}  // namespace tutti::rpc
