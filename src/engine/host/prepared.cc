#include "engine/host/prepared.h"

#include <algorithm>
#include <map>

#include "transport/block.h"

namespace tutti::engine {

namespace {

using namespace plan;

// Whether the lane begins by saying "I have entered": tokens before anything is waited for or moved.
bool begins_with_entry(const Lane& lane) {
  if (lane.empty()) return false;
  const Step& first = lane[0];
  return !first.has_value() && first.wait_count == 0 && first.after_count == 0 && first.signal_count > 0;
}

bool sends_entry(const Plan& plan, Rank from, std::uint32_t lane_index, Rank to) {
  const auto& lanes = plan.programs[static_cast<std::size_t>(from)].lanes;
  if (lane_index >= lanes.size() || !begins_with_entry(lanes[lane_index])) return false;
  const auto signals = lanes[lane_index].signals(lanes[lane_index][0]);
  return std::count(signals.begin(), signals.end(), to) == 1;
}

std::vector<ValuePipe> outgoing_pipes(const Lane& lane) {
  std::vector<ValuePipe> pipes;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Rank to = lane[i].send_to;
    const bool is_known = std::any_of(pipes.begin(), pipes.end(), [&](const ValuePipe& p) { return p.peer == to; });
    if (to != kNoRank && !is_known) pipes.push_back({to, static_cast<std::uint32_t>(pipes.size())});
  }
  return pipes;
}

PreparedLane prepare_lane(const Plan& plan, Rank self, std::uint32_t index) {
  const Lane& lane = plan.programs[static_cast<std::size_t>(self)].lanes[index];
  PreparedLane prepared;
  prepared.outgoing = outgoing_pipes(lane);
  std::map<Rank, bool> has_met;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Step& step = lane[i];
    StepPeers peers;
    std::map<Rank, std::uint32_t> ordinals;
    for (const Rank from : lane.waits(step)) {
      const bool is_first = !std::exchange(has_met[from], true);
      if (is_first && sends_entry(plan, from, index, self)) {
        peers.entries.push_back(from);
      } else {
        peers.takes.push_back({from, ++ordinals[from]});
      }
    }
    if (step.receive_from != kNoRank) {
      has_met[step.receive_from] = true;
      peers.receive = {step.receive_from, ++ordinals[step.receive_from]};
    }
    for (const Rank to : lane.signals(step)) {
      if (i > 0 || !begins_with_entry(lane) || !sends_entry(plan, self, index, to)) peers.signals.push_back(to);
    }
    peers.after.assign(lane.after(step).begin(), lane.after(step).end());
    prepared.peers.push_back(std::move(peers));
  }
  for (const auto& [from, unused] : has_met) {
    for (const ValuePipe& pipe : outgoing_pipes(plan.programs[static_cast<std::size_t>(from)].lanes[index])) {
      if (pipe.peer == self) prepared.incoming.push_back({from, pipe.index});
    }
  }
  return prepared;
}

void add(std::vector<Rank>& ranks, Rank rank) {
  if (rank != kNoRank && std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
}

void find_partners(const Plan& plan, Rank self, Prepared& prepared) {
  const auto& lanes = plan.programs[static_cast<std::size_t>(self)].lanes;
  for (std::uint32_t index = 0; index < lanes.size(); ++index) {
    const Lane& lane = lanes[index];
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const Step& step = lane[i];
      add(prepared.partners, step.receive_from);
      add(prepared.partners, step.send_to);
      for (const Rank from : lane.waits(step)) add(prepared.partners, from);
      for (const Rank to : lane.signals(step)) {
        add(prepared.partners, to);
        if (i == 0 && begins_with_entry(lane) && sends_entry(plan, self, index, to)) add(prepared.greeted, to);
      }
    }
  }
}

// What a lane of any rank needs of the shared places.
void measure_lane(const Lane& lane, Rank rank, Rank self, Prepared& prepared) {
  const auto measure = [&](const Slice& slice, bool is_load) {
    if (slice.count == 0) return;
    const std::uint32_t end = slice.at(slice.count - 1) + 1;
    if (slice.buffer == Buffer::stage && !is_load) {
      auto& staged = prepared.staged[static_cast<std::size_t>(slice.owner)];
      for (std::uint32_t i = 0; i < slice.count; ++i) staged.push_back(slice.at(i));
    }
    if (slice.buffer == Buffer::scratch && rank == self) {
      prepared.scratch_chunks = std::max(prepared.scratch_chunks, end);
    }
    if (slice.owner == rank || slice.buffer == Buffer::stage) return;
    const bool is_in = is_load && slice.buffer == Buffer::in;
    prepared.reached[static_cast<std::size_t>(slice.owner)] |=
        is_in ? transport::Tag::kReachesIn : transport::Tag::kReachesOut;
  };
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Step& step = lane[i];
    for (const Slice& source : lane.sources(step)) measure(source, true);
    for (const Slice& target : lane.targets(step)) measure(target, false);
    if (step.send_to != kNoRank) {
      const auto slices = step.source_count > 0 ? lane.sources(step) : lane.targets(step);
      prepared.value_chunks = std::max(prepared.value_chunks, slices.empty() ? 1 : slices[0].count);
    }
  }
  prepared.value_pipes = std::max(prepared.value_pipes, static_cast<std::uint32_t>(outgoing_pipes(lane).size()));
}

// The shape that small messages are made for: a rank stages first, then only takes.
bool is_one_round(const Program& program) {
  if (program.lanes.size() != 1) return program.lanes.empty();
  const Lane& lane = program.lanes[0];
  if (begins_with_entry(lane)) return false;
  bool is_taking = false;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Step& step = lane[i];
    if (step.receive_from != kNoRank || step.send_to != kNoRank) return false;
    const auto targets = lane.targets(step);
    const auto is_stage = [](const Slice& slice) { return slice.buffer == Buffer::stage; };
    const bool stages = std::any_of(targets.begin(), targets.end(), is_stage);
    is_taking = is_taking || step.wait_count > 0;
    if (is_taking && (stages || step.signal_count > 0)) return false;
  }
  return true;
}

}  // namespace

std::uint32_t stage_index(const Prepared& prepared, Rank owner, std::uint32_t chunk) {
  const auto& staged = prepared.staged[static_cast<std::size_t>(owner)];
  return static_cast<std::uint32_t>(std::lower_bound(staged.begin(), staged.end(), chunk) - staged.begin());
}

std::size_t bytes_of(const Prepared& prepared) {
  const auto room_of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  std::size_t bytes = sizeof(Prepared) + prepared.header.algorithm.capacity() + room_of(prepared.header.domain_of) +
                      room_of(prepared.program.lanes) + room_of(prepared.lanes) + room_of(prepared.staged) +
                      room_of(prepared.reached) + room_of(prepared.greeted) + room_of(prepared.partners);
  for (const Lane& lane : prepared.program.lanes) bytes += lane.bytes();
  for (const auto& staged : prepared.staged) bytes += room_of(staged);
  for (const PreparedLane& lane : prepared.lanes) {
    bytes += room_of(lane.peers) + room_of(lane.outgoing) + room_of(lane.incoming);
    for (const StepPeers& peers : lane.peers) {
      bytes += room_of(peers.entries) + room_of(peers.takes) + room_of(peers.signals) + room_of(peers.after);
    }
  }
  return bytes;
}

Result<std::shared_ptr<const Prepared>> prepare(const Algorithm& algorithm, const Shape& shape, Rank self) {
  TUTTI_ASSIGN(const Plan plan, build(algorithm, shape));
  auto prepared = std::make_shared<Prepared>();
  prepared->header = plan;
  prepared->program = plan.programs[static_cast<std::size_t>(self)];
  prepared->only_reaches = algorithm.only_reaches;
  prepared->reached.assign(static_cast<std::size_t>(plan.ranks), 0);
  prepared->staged.resize(static_cast<std::size_t>(plan.ranks));
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    for (const Lane& lane : plan.programs[static_cast<std::size_t>(rank)].lanes) {
      measure_lane(lane, rank, self, *prepared);
    }
  }
  for (auto& staged : prepared->staged) {
    std::sort(staged.begin(), staged.end());
    staged.erase(std::unique(staged.begin(), staged.end()), staged.end());
    prepared->stage_chunks = std::max(prepared->stage_chunks, static_cast<std::uint32_t>(staged.size()));
  }
  for (std::uint32_t lane = 0; lane < prepared->program.lanes.size(); ++lane) {
    prepared->lanes.push_back(prepare_lane(plan, self, lane));
  }
  find_partners(plan, self, *prepared);
  // Of all ranks: they must agree on how data travels.
  prepared->is_one_round =
      plan.reach >= Reach::stage && std::all_of(plan.programs.begin(), plan.programs.end(), is_one_round);
  return std::shared_ptr<const Prepared>(std::move(prepared));
}

}  // namespace tutti::engine
