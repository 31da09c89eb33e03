#include "plan/algorithms/hierarchical_leader.h"

#include <algorithm>
#include <limits>

#include "plan/algorithms/neighbourhood.h"

namespace tutti::plan::hierarchical_leader {

namespace {

// Blocks at equal distances, which one slice can name.
struct Run {
  Rank first;
  Rank count;
  Rank distance;
};

// The blocks of a host's ranks in as few runs as they lie in: one where ranks are numbered host by host or dealt out.
std::vector<Run> runs_of(std::span<const Rank> ranks, std::uint32_t lanes) {
  std::vector<Rank> blocks(ranks.begin(), ranks.end());
  std::sort(blocks.begin(), blocks.end());
  const auto stride_max = static_cast<Rank>(std::numeric_limits<std::uint16_t>::max() / lanes);
  std::vector<Run> runs;
  for (const Rank block : blocks) {
    const Rank distance =
        runs.empty() ? 0 : block - (runs.back().first + (runs.back().count - 1) * runs.back().distance);
    const bool fits =
        !runs.empty() && distance <= stride_max && (runs.back().count == 1 || runs.back().distance == distance);
    if (!fits) {
      runs.push_back({block, 1, 0});
      continue;
    }
    runs.back().distance = distance;
    ++runs.back().count;
  }
  return runs;
}

// What all hosts have, and how their leaders take turns.
struct Hosts {
  std::size_t own;
  std::vector<std::vector<Run>> runs;  // per host
  std::vector<Rank> leaders;
  std::size_t rounds = 0;

  Hosts(const Setting& setting, Rank me) : own(setting.host_of(me)) {
    for (std::uint32_t host = 0; host < setting.host_count(); ++host) {
      runs.push_back(runs_of(setting.host(host), setting.shape().lanes));
      leaders.push_back(setting.host(host)[0]);
      rounds = std::max(rounds, runs.back().size());
    }
  }

  // Calls give(host) and take(host) in turn for all other hosts, beginning with the neighbours in the circle of hosts.
  template <class Give, class Take>
  void for_others(Give give, Take take) const {
    const std::size_t n = leaders.size();
    for (std::size_t distance = 1; distance < n; ++distance) give((own + distance) % n);
    for (std::size_t distance = 1; distance < n; ++distance) take((own + n - distance) % n);
  }
};

Slice slice_of(const View& v, Buffer buffer, Rank owner, const Run& run) {
  Slice slice = v.slice(buffer, owner, run.first);
  slice.count = static_cast<std::uint32_t>(run.count);
  if (run.count > 1) slice.stride = static_cast<std::uint16_t>(run.distance * static_cast<Rank>(v.lanes));
  return slice;
}

// A pipe holds few messages, so leaders do not send all runs first: they exchange one run after the other.
void gather_between_leaders(Lane& steps, const View& v, const Hosts& hosts) {
  const auto own = [&](Buffer buffer, const Run& run) { return slice_of(v, buffer, v.self(), run); };
  const auto& mine = hosts.runs[hosts.own];
  for (std::size_t round = 0; round < hosts.rounds; ++round) {
    hosts.for_others(
        [&](std::size_t to) {
          if (round < mine.size()) steps.step().load(own(Buffer::out, mine[round])).send(hosts.leaders[to]);
        },
        [&](std::size_t from) {
          if (round >= hosts.runs[from].size()) return;
          const Run& run = hosts.runs[from][round];
          auto step = steps.step().receive(hosts.leaders[from]);
          step.store(own(Buffer::out, run)).store(own(Buffer::stage, run));
        });
  }
}

// Sums for the own host wait in scratch until all hosts have added theirs; then they are published.
void scatter_between_leaders(Lane& steps, const View& v, const Hosts& hosts, std::span<const Rank> neighbours) {
  const auto load_sum = [&](StepWriter step, const Run& run) {
    for (const Rank rank : neighbours) {
      step.load(slice_of(v, rank == v.self() ? Buffer::in : Buffer::stage, rank, run));
    }
    return step;
  };
  const auto& mine = hosts.runs[hosts.own];
  const auto own = [&](Buffer buffer, std::size_t round) { return slice_of(v, buffer, v.self(), mine[round]); };
  for (std::size_t round = 0; round < hosts.rounds; ++round) {
    if (round < mine.size()) load_sum(steps.step(), mine[round]).store(own(Buffer::scratch, round));
    std::size_t taken = 1;
    hosts.for_others(
        [&](std::size_t to) {
          const auto& runs = hosts.runs[to];
          if (round < runs.size()) load_sum(steps.step(), runs[round]).send(hosts.leaders[to]);
        },
        [&](std::size_t from) {
          if (round >= mine.size()) return;
          const bool is_last = ++taken == hosts.leaders.size();
          auto step = steps.step().receive(hosts.leaders[from]).load(own(Buffer::scratch, round)).finish(is_last);
          step.store(own(is_last ? Buffer::stage : Buffer::scratch, round));
        });
  }
}

}  // namespace

void all_gather(const Setting& setting, Rank me, Program& program) {
  const Hosts hosts(setting, me);
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    const Neighbourhood hood(setting, me, lane, 0);
    const View v = setting.view(me, lane);
    const Rank leader = hood.rail_ranks()[0];
    const auto keep = [&](Slice source, Rank block) {
      steps.step().load(source).store(v.own(Buffer::out, block)).store(v.own(Buffer::stage, block));
    };
    keep(v.own(Buffer::in, me), me);
    hood.tell(steps, hood.neighbours(), hood.rail_ranks());
    if (me == leader) {
      for (const Rank rank : others(hood.neighbours(), me)) keep(v.slice(Buffer::stage, rank, rank), rank);
      gather_between_leaders(steps, v, hosts);
    }
    hood.tell(steps, hood.rail_ranks(), hood.neighbours());
    if (me == leader) continue;
    if (me > 0) hood.fetch(steps, leader, 0, me);
    if (me + 1 < v.n()) hood.fetch(steps, leader, me + 1, v.n() - me - 1);
  }
}

void reduce_scatter(const Setting& setting, Rank me, Program& program) {
  const Hosts hosts(setting, me);
  for (std::uint32_t lane = 0; lane < setting.shape().lanes; ++lane) {
    Lane& steps = program.lanes.emplace_back();
    const Neighbourhood hood(setting, me, lane, 0);
    const View v = setting.view(me, lane);
    const Rank leader = hood.rail_ranks()[0];
    if (me != leader) hood.publish(steps, 0, v.n());
    hood.tell(steps, hood.neighbours(), hood.rail_ranks());
    if (me == leader) scatter_between_leaders(steps, v, hosts, hood.neighbours());
    hood.tell(steps, hood.rail_ranks(), hood.neighbours());
    hood.fetch(steps, leader, me, 1);
  }
}

}  // namespace tutti::plan::hierarchical_leader
