// The agents that this one has started: messages pass through here, and their ends are noticed.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "launch/channel.h"
#include "launch/message.h"
#include "launch/start/link.h"
#include "os/event_loop.h"

namespace tutti::launch {

// On the thread of the loop.
class Branches final : public Channel::Owner {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void heard_below(std::span<const std::byte> envelope) = 0;    // to be passed on as it is
    virtual void lost_below(HostIndex host, const std::string& why) = 0;  // and with it all below it
    virtual void branch_ended() = 0;                                      // is_empty() may be true now
  };

  Branches(os::EventLoop& loop, Listener& listener);
  ~Branches() override;

  void grow(const std::vector<Branch>& branches);
  void send(HostIndex host,
            std::span<const std::byte> envelope);       // to it or through it; nothing when nobody leads there
  void beat(Time now, std::chrono::nanoseconds quiet);  // to those that were told nothing for so long
  void set_reading(bool is_reading);
  void finish();  // tells all to end; nobody is lost any more
  void kill();    // the programs that lead to them, at once
  bool is_empty() const { return links_.empty(); }
  std::vector<pid_t> pids() const;

 private:
  struct BranchLink;
  void take(Channel& channel, std::span<const std::byte> envelope) override;
  void end(Channel& channel, const Status& why) override;
  BranchLink& link_of(const Channel& channel);
  void add(const Branch& branch);
  void settle(BranchLink& link);  // once channel and program have ended, or one of them long enough ago
  void remove(BranchLink& link);

  os::EventLoop& loop_;
  Listener& listener_;
  std::vector<std::unique_ptr<BranchLink>> links_;
  bool is_reading_ = true;
  bool is_finishing_ = false;
  std::shared_ptr<int> life_ = std::make_shared<int>();  // for calls that come later
};

}  // namespace tutti::launch
