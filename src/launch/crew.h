// The agents of a job: over which channel each of them is reached, and who of them is gone.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/channel.h"
#include "launch/message.h"
#include "launch/start/link.h"
#include "os/event_loop.h"

namespace tutti::launch {

// On the thread of the loop. A host is reached through the line of the host at the root of its bough.
class Crew final : private Channel::Owner {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void heard(HostIndex host, Message message) = 0;
    // Everything that was reached over one line, of which `root` is the nearest. Not after finish().
    virtual void lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why) = 0;
    virtual void ended() = 0;  // no line is left
  };

  // `names` and `agent_path` are for messages.
  Crew(os::EventLoop& loop, std::vector<std::string> names, std::string agent_path, Listener& listener);
  ~Crew() override;

  HostIndex add_host(std::string name);                      // one more, which nothing reaches yet
  void add(Link link, const std::vector<HostIndex>& hosts);  // the first is at the other end of it
  void forget(const std::vector<HostIndex>& hosts);          // nobody wants to hear of them any more
  bool is_reached(HostIndex host) const { return lines_of_hosts_[host] != nullptr; }
  std::size_t host_count() const { return lines_of_hosts_.size(); }

  void send(HostIndex host, const Message& message);  // nothing when it is not reached
  void send_all(const Message& message);
  bool has_queued() const;
  void set_reading(bool is_reading);

  // Hosts that have said nothing for so long. The clock stands while nobody reads, see set_reading() and forgive().
  std::vector<HostIndex> silent(std::chrono::nanoseconds limit) const;
  void forgive();  // all have just been heard

  void finish();                              // tells all agents to end; what is on its way to them still goes
  bool is_empty() const;                      // nothing is left of them
  std::vector<HostIndex> unanswered() const;  // hosts whose line has not ended
  void kill_unanswered_links(int signal);     // programs whose agent has not greeted, as ssh that still connects

 private:
  struct Line;
  void take(Channel& channel, std::span<const std::byte> envelope) override;
  void end(Channel& channel, const Status& why) override;
  Line& line_of(const Channel& channel);
  void program_ended(Line& line);
  void settle_later(Line& line);
  void settle(Line& line);  // everything about its end is known, or has had its time
  void bury();

  os::EventLoop& loop_;
  std::vector<std::string> names_;
  std::string agent_path_;
  Listener& listener_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<Line*> lines_of_hosts_;  // null: not reached
  std::vector<Time> heard_at_;
  bool is_reading_ = true;
  bool is_finishing_ = false;
  bool will_bury_ = false;
  std::shared_ptr<int> life_ = std::make_shared<int>();  // for calls that come later
};

}  // namespace tutti::launch
