// For tests: a real agent with its guard as a child of the test, and the launcher's end of its channel.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/agent/agent.h"
#include "launch/channel.h"
#include "launch/message.h"
#include "os/event_loop.h"

namespace tutti::launch {

class AgentUnderTest final : private Channel::Owner {
 public:
  static constexpr std::chrono::seconds kLimit{30};

  explicit AgentUnderTest(AgentSettings settings = {.port_count = 2});
  ~AgentUnderTest() override;  // closes the channel and waits for the guard

  void send(const Message& message, HostIndex host = 0);
  void begin(const std::string& script, Rank rank = 0);  // a rank that is a shell with this script
  void begin(Order order);
  bool until(const std::function<bool()>& is_done);  // false: not within the limit
  void close();                                      // the launcher is gone
  pid_t guard() const { return guard_; }
  pid_t agent();          // the inner process, from Hello
  bool wait_for_guard();  // that it ends within the limit

  std::vector<Envelope> heard;
  bool has_ended = false;  // the channel

  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Envelope& envelope : heard) {
      if (const Kind* message = std::get_if<Kind>(&envelope.message)) found.push_back(*message);
    }
    return found;
  }
  template <class Kind>
  bool wait_for(std::size_t count = 1) {
    return until([&] { return all<Kind>().size() >= count; });
  }
  std::string output(Rank rank = 0, Stream stream = Stream::out) const;
  // The numbers that a rank has printed, one a line, once it has printed "ready".
  std::vector<pid_t> printed_pids();

 private:
  void take(Channel& channel, std::span<const std::byte> envelope) override;
  void end(Channel& channel, const Status& why) override;

  std::unique_ptr<os::EventLoop> loop_;
  std::unique_ptr<Channel> channel_;
  pid_t guard_ = 0;
  bool is_waited_for_ = false;
};

Order shell_order(const std::string& script, Rank rank = 0);

// Whether all of them are gone, or ended and not waited for, within so long.
bool are_gone(const std::vector<pid_t>& pids, std::chrono::milliseconds limit);

}  // namespace tutti::launch
