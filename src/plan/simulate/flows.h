// Transfers that share links fairly. A transfer is one or more streams that move in step, as the loads and stores of
// one loop do; on every link the streams get equal parts of the bandwidth, and the transfer moves at the smallest of
// these. (A part that a stream cannot use because it is slower elsewhere is not handed on: a little pessimistic, and
// local, so that a change concerns only the links it touches.)
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

  // Streams over a link, each of the size of the transfer.
  struct Crossing {
    std::uint32_t link;
    std::uint32_t streams;
  };
  // Starts a transfer of bytes > 0 a stream at the current time; `owner` comes back when it ends.
  void start(double now, std::span<const Crossing> crossings, double bytes, std::uint64_t owner);

  // The earliest time at which a transfer may end; infinity when there is none. Call after all starts of an instant.
  double next_time();
  // Ends every transfer that is over at `now`, calling `ended(owner)` for each.
  void finish_until(double now, const std::function<void(std::uint64_t)>& ended);

  double bytes(std::uint32_t link) const { return links_[link].bytes; }
  double busy_s(std::uint32_t link) const { return links_[link].busy_s; }

 private:
  // A flow on a link, and which of the flow's crossings that is.
  struct Passing {
    FlowId flow;
    std::uint32_t crossing;
  };
  struct Link {
    double bytes_per_s = 0;
    double bytes = 0;   // ever
    double busy_s = 0;  // with at least one transfer, until busy_since
    double busy_since = 0;
    std::uint32_t streams = 0;
    bool is_dirty = false;
    std::vector<Passing> flows = {};
  };
  struct Flow {
    std::vector<Crossing> crossings = {};
    std::vector<std::uint32_t> positions = {};  // in Link::flows, per crossing
    double remaining = 0;                       // of each stream
    double rate = 0;
    double since = 0;      // when `remaining` was right
    double scheduled = 0;  // time of the event that looks at this flow
    std::uint64_t owner = 0;
    std::uint64_t settled = 0;  // the last settling that looked at it
    std::uint32_t version = 0;  // a flow's number is used again after its end
  };
  struct Event {
    double time;
    FlowId flow;
    std::uint32_t version;
    bool operator>(const Event& other) const { return time > other.time; }
  };

  void mark(std::uint32_t link);
  void settle();  // new rates for the flows of dirty links
  void set_rate(FlowId id);
  void remove(FlowId id, double now);
  void advance(Flow& flow, double now) const;
  void schedule(FlowId id, double time);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<std::uint32_t> dirty_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t settling_ = 0;
  double now_ = 0;
};

}  // namespace tutti::plan
