// The part of a job on one host: starts ranks, passes their output on and ends them, as the launcher says.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/agent/branches.h"
#include "launch/agent/ending.h"
#include "launch/agent/rank_environment.h"
#include "launch/agent/rank_process.h"
#include "launch/channel.h"
#include "launch/message.h"
#include "os/event_loop.h"

namespace tutti::launch {

struct AgentSettings {
  HostIndex host = 0;
  std::size_t port_count = 0;
  std::chrono::nanoseconds silence{0};         // of the launcher, after which the job is ended; 0: for ever
  std::function<void(Sample&)> complete = {};  // what others know of a rank: its call, whom it waits for
};

// On the thread of the loop, which is that of the process: ranks are killed when it ends. The process adopts orphans
// (os::adopt_orphans) and ignores SIGPIPE.
class Agent final : private Channel::Owner, private RankProcess::Owner, private Branches::Listener {
 public:
  Agent(os::EventLoop& loop, std::unique_ptr<Duct> duct, Greets greets, AgentSettings settings);
  ~Agent() override;

  Status start();  // says Hello
  // Ends everything, as Stop does, and then itself: the answer to signals and to the end of the channel.
  void leave(std::chrono::milliseconds grace, const std::string& why);
  void reap();  // after SIGCHLD: orphans that have ended
  bool is_over() const;

 private:
  struct Member {
    std::unique_ptr<RankProcess> process;
    Time sampled_at;
    double cpu_s = 0;
  };

  void take(Channel& channel, std::span<const std::byte> envelope) override;
  void end(Channel& channel, const Status& why) override;
  void drained(Channel& channel) override;
  void rank_wrote(Rank rank, Stream stream, Bytes bytes) override;
  void rank_took(Rank rank, std::uint32_t bytes) override;
  void rank_ended(Rank rank) override;
  void heard_below(std::span<const std::byte> envelope) override;
  void lost_below(HostIndex host, const std::string& why) override;
  void branch_ended() override;

  void hear(const Begin& begin);
  void hear(const Grow& grow) { branches_.grow(grow.branches); }
  void hear(const Input& input);
  void hear(const Signal& signal);
  void hear(const Stop& stop) { ending_.begin(std::chrono::milliseconds(stop.grace_ms)); }
  void hear(const AskSamples&);
  template <class Other>
  void hear(const Other&) {}  // beats, and what only launchers are told

  std::string folder_of(const Order& order);
  Status start_rank(const Order& order, const RankOrder& rank, const Binding& binding, const std::string& folder);
  Ending::Job job();
  void signal_all(int signal);
  std::vector<pid_t> rank_pids() const;
  void send(const Message& message);
  void send_bytes(Bytes encoded);
  void set_reading(bool is_reading);
  void watch_clock();
  void all_gone();
  void settle();

  os::EventLoop& loop_;
  AgentSettings settings_;
  HostEnvironment host_;
  Channel up_;
  Branches branches_;
  Ending ending_;
  std::map<Rank, Member> ranks_;
  std::string told_note_;  // about binding: once
  Time heard_at_, sent_at_;
  bool is_halted_ = false;
  bool is_reading_ = true;
  bool is_leaving_ = false;
  bool is_gone_ = false;  // while leaving: nothing of the ranks is left
  bool has_up_ended_ = false;
  bool is_over_ = false;
  os::EventLoop::Timer clock_timer_ = {};
  os::EventLoop::Timer leave_timer_ = {};
  std::shared_ptr<int> life_ = std::make_shared<int>();  // for calls that come later
};

}  // namespace tutti::launch
