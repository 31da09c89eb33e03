// Transfers that share links fairly: each gets, of every link it crosses, the bandwidth divided by the number of
// transfers there, and moves at the smallest of these. (A share that a transfer cannot use because it is slower
// elsewhere is not handed on: a little pessimistic, and local, so that a change concerns only the links it touches.)
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "tutti/simulate.h"

namespace tutti::plan {

using FlowId = std::uint32_t;

class Flows {
 public:
  explicit Flows(const Model& model);

  // Starts a transfer of bytes > 0 over links at the current time; `owner` comes back from finished().
  void start(double now, std::span<const std::uint32_t> links, double bytes, std::uint64_t owner);

  // The earliest time at which a transfer may end; infinity when there is none. Call after all starts of an instant.
  double next_time();
  // Ends every transfer that is over at `now`, calling `ended(owner)` for each.
  void finish_until(double now, const std::function<void(std::uint64_t)>& ended);

  double bytes(std::uint32_t link) const { return links_[link].bytes; }
  double busy_s(std::uint32_t link) const { return links_[link].busy_s; }

 private:
  struct Link {
    double bytes_per_s = 0;
    double bytes = 0;   // ever
    double busy_s = 0;  // with at least one transfer, until busy_since
    double busy_since = 0;
    bool is_dirty = false;
    std::vector<FlowId> flows = {};
  };
  struct Flow {
    std::span<const std::uint32_t> links = {};
    std::vector<std::uint32_t> positions = {};  // in Link::flows, per link
    double remaining = 0;
    double rate = 0;
    double since = 0;      // when `remaining` was right
    double scheduled = 0;  // time of the event that looks at this flow
    std::uint64_t owner = 0;
    std::uint32_t version = 0;  // a flow's number is used again after its end
    bool is_active = false;
  };
  struct Event {
    double time;
    FlowId flow;
    std::uint32_t version;
    bool operator>(const Event& other) const { return time > other.time; }
  };

  void mark(std::uint32_t link);
  void settle();  // new rates for the flows of dirty links
  void remove(FlowId id, double now);
  void advance(Flow& flow, double now) const;
  void schedule(FlowId id, double time);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<std::uint32_t> dirty_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0;
};

}  // namespace tutti::plan
