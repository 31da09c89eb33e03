#include "plan/simulate/flows.h"

#include <algorithm>
#include <limits>

namespace tutti::plan {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// What is left of a transfer after rounding errors of many changes of its rate; less than a byte is nothing.
constexpr double kNegligibleBytes = 0.25;

}  // namespace

Flows::Flows(const Model& model) : links_(model.link_count()) {
  for (std::uint32_t link = 0; link < links_.size(); ++link) links_[link].bytes_per_s = model.bytes_per_s(link);
}

void Flows::start(double now, std::span<const Crossing> crossings, double bytes, std::uint64_t owner) {
  now_ = now;
  FlowId id = 0;
  if (free_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  flow.crossings.assign(crossings.begin(), crossings.end());
  flow.positions.clear();
  flow.remaining = bytes;
  flow.rate = 0;
  flow.since = now;
  flow.scheduled = kNever;
  flow.owner = owner;
  for (std::uint32_t i = 0; i < crossings.size(); ++i) {
    Link& link = links_[crossings[i].link];
    if (link.flows.empty()) link.busy_since = now;
    flow.positions.push_back(static_cast<std::uint32_t>(link.flows.size()));
    link.flows.push_back({id, i});
    link.streams += crossings[i].streams;
    link.bytes += bytes * crossings[i].streams;
    mark(crossings[i].link);
  }
  if (crossings.empty()) schedule(id, now);  // nothing in the way
}

void Flows::mark(std::uint32_t link) {
  if (links_[link].is_dirty) return;
  links_[link].is_dirty = true;
  dirty_.push_back(link);
}

void Flows::schedule(FlowId id, double time) {
  flows_[id].scheduled = time;
  events_.push({time, id, flows_[id].version});
}

void Flows::advance(Flow& flow, double now) const {
  flow.remaining = flow.crossings.empty() ? 0 : flow.remaining - flow.rate * (now - flow.since);
  flow.since = now;
}

void Flows::settle() {
  ++settling_;
  for (const std::uint32_t link : dirty_) {
    links_[link].is_dirty = false;
    for (const Passing& passing : links_[link].flows) {
      if (flows_[passing.flow].settled == settling_) continue;
      flows_[passing.flow].settled = settling_;
      set_rate(passing.flow);
    }
  }
  dirty_.clear();
}

void Flows::set_rate(FlowId id) {
  Flow& flow = flows_[id];
  double rate = kNever;
  for (const Crossing& crossing : flow.crossings) {
    const Link& link = links_[crossing.link];
    rate = std::min(rate, link.bytes_per_s / static_cast<double>(link.streams));
  }
  if (rate == flow.rate) return;
  advance(flow, now_);
  flow.rate = rate;
  // A flow that slows down keeps its event: it is looked at then and put off.
  const double end = now_ + std::max(flow.remaining, 0.0) / rate;
  if (end < flow.scheduled) schedule(id, end);
}

double Flows::next_time() {
  settle();
  while (!events_.empty()) {
    const Event& event = events_.top();
    if (flows_[event.flow].version == event.version && flows_[event.flow].scheduled == event.time) return event.time;
    events_.pop();
  }
  return kNever;
}

void Flows::finish_until(double now, const std::function<void(std::uint64_t)>& ended) {
  now_ = now;
  while (!events_.empty() && events_.top().time <= now) {
    const Event event = events_.top();
    events_.pop();
    Flow& flow = flows_[event.flow];
    if (flow.version != event.version || flow.scheduled != event.time) continue;
    advance(flow, now);
    if (flow.remaining > kNegligibleBytes) {
      schedule(event.flow, now + flow.remaining / flow.rate);
      continue;
    }
    const std::uint64_t owner = flow.owner;
    remove(event.flow, now);
    ended(owner);
  }
}

void Flows::remove(FlowId id, double now) {
  Flow& flow = flows_[id];
  for (std::size_t i = 0; i < flow.crossings.size(); ++i) {
    Link& link = links_[flow.crossings[i].link];
    const std::uint32_t position = flow.positions[i];
    const Passing moved = link.flows.back();
    link.flows[position] = moved;
    link.flows.pop_back();
    flows_[moved.flow].positions[moved.crossing] = position;
    link.streams -= flow.crossings[i].streams;
    if (link.flows.empty()) link.busy_s += now - link.busy_since;
    mark(flow.crossings[i].link);
  }
  ++flow.version;
  free_.push_back(id);
}

}  // namespace tutti::plan
