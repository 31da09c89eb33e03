#include "tutti/plan.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace tutti::plan {

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return "all_reduce";
    case Collective::all_gather: return "all_gather";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::broadcast: return "broadcast";
    case Collective::reduce: return "reduce";
    case Collective::gather: return "gather";
    case Collective::scatter: return "scatter";
    case Collective::all_to_all: return "all_to_all";
    case Collective::barrier: return "barrier";
    case Collective::send_receive: return "send_receive";
  }
  return "unknown";
}

std::optional<Collective> collective_of(std::string_view name) {
  for (const Collective collective : kCollectives) {
    if (name == name_of(collective)) return collective;
    if (has_variable_form(collective) && name == std::string(name_of(collective)) + "_v") return collective;
  }
  return std::nullopt;
}

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::in: return "in";
    case Buffer::out: return "out";
    case Buffer::scratch: return "scratch";
    case Buffer::stage: return "stage";
  }
  return "unknown";
}

std::string_view name_of(Reach reach) {
  switch (reach) {
    case Reach::none: return "none";
    case Reach::stage: return "stage";
    case Reach::load: return "load";
    case Reach::full: return "full";
  }
  return "unknown";
}

std::optional<Reach> reach_of(std::string_view name) {
  for (const Reach reach : kReaches) {
    if (name == name_of(reach)) return reach;
  }
  return std::nullopt;
}

namespace {

void count_up(std::uint16_t& count, std::size_t more) {
  TUTTI_ASSERT(count + more <= std::numeric_limits<std::uint16_t>::max(), "a step lists at most 65,535 of a kind");
  count = static_cast<std::uint16_t>(count + more);
}

}  // namespace

StepWriter& StepWriter::after(Point point) { return after({&point, 1}); }
StepWriter& StepWriter::wait(Rank peer) { return wait({&peer, 1}); }
StepWriter& StepWriter::load(const Slice& source) { return load({&source, 1}); }
StepWriter& StepWriter::store(const Slice& target) { return store({&target, 1}); }
StepWriter& StepWriter::signal(Rank peer) { return signal({&peer, 1}); }

StepWriter& StepWriter::after(std::span<const Point> points) {
  count_up(step().after_count, points.size());
  lane_.points_.insert(lane_.points_.end(), points.begin(), points.end());
  return *this;
}

StepWriter& StepWriter::wait(std::span<const Rank> peers) {
  TUTTI_ASSERT(step().signal_count == 0, "waits are written before signals");
  count_up(step().wait_count, peers.size());
  lane_.peers_.insert(lane_.peers_.end(), peers.begin(), peers.end());
  return *this;
}

StepWriter& StepWriter::receive(Rank peer) {
  step().receive_from = peer;
  return *this;
}

StepWriter& StepWriter::load(std::span<const Slice> sources) {
  TUTTI_ASSERT(step().target_count == 0, "sources are written before targets");
  count_up(step().source_count, sources.size());
  lane_.slices_.insert(lane_.slices_.end(), sources.begin(), sources.end());
  return *this;
}

StepWriter& StepWriter::finish(bool finish) {
  step().finish = finish;
  return *this;
}

StepWriter& StepWriter::store(std::span<const Slice> targets) {
  count_up(step().target_count, targets.size());
  lane_.slices_.insert(lane_.slices_.end(), targets.begin(), targets.end());
  return *this;
}

StepWriter& StepWriter::send(Rank peer) {
  step().send_to = peer;
  return *this;
}

StepWriter& StepWriter::signal(std::span<const Rank> peers) {
  count_up(step().signal_count, peers.size());
  lane_.peers_.insert(lane_.peers_.end(), peers.begin(), peers.end());
  return *this;
}

bool uses_stage(const Program& program) {
  const auto is_stage = [](const Slice& slice) { return slice.buffer == Buffer::stage; };
  for (const Lane& lane : program.lanes) {
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const auto sources = lane.sources(lane[i]);
      const auto targets = lane.targets(lane[i]);
      if (std::any_of(sources.begin(), sources.end(), is_stage)) return true;
      if (std::any_of(targets.begin(), targets.end(), is_stage)) return true;
    }
  }
  return false;
}

bool uses_stage(const Plan& plan) {
  return std::any_of(plan.programs.begin(), plan.programs.end(), [](const Program& p) { return uses_stage(p); });
}

std::size_t Plan::step_count() const {
  std::size_t count = 0;
  for (const Program& program : programs) {
    for (const Lane& lane : program.lanes) count += lane.size();
  }
  return count;
}

}  // namespace tutti::plan
