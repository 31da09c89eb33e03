// What an agent does with ranks: how they start, and what they use.
#include <fmt/format.h>

#include <algorithm>

#include "launch/agent/agent.h"
#include "os/clock.h"
#include "os/cpu_places.h"
#include "os/process_tree.h"

namespace tutti::launch {

void Agent::hear(const Begin& begin) {
  const Order& order = begin.order;
  std::vector<os::CpuPlace> places;
  if (order.bind != BindPolicy::none) places = os::find_cpu_places();
  const Bindings bindings = bind_ranks(places, order.local_size, order.bind);
  if (!bindings.note.empty() && bindings.note != told_note_) {
    told_note_ = bindings.note;
    send(Note{bindings.note});
  }
  for (const RankOrder& rank : order.ranks) {
    const auto local = static_cast<std::size_t>(std::max<Rank>(rank.local_rank, 0));
    const Binding& binding = bindings.by_local_rank[local % bindings.by_local_rank.size()];
    if (const Status status = start_rank(order, rank, binding); !status)
      send(CannotStart{.rank = rank.rank, .text = std::string(status.text())});
  }
}

Status Agent::start_rank(const Order& order, const RankOrder& rank, const Binding& binding) {
  if (ending_.is_under_way() || is_leaving_) return {Code::aborted, "the job is being ended on this host"};
  if (ranks_.contains(rank.rank)) return {Code::internal, fmt::format("rank {} runs on this host already", rank.rank)};
  TUTTI_ASSIGN(auto environment, environment_of(order, rank, binding, host_));
  const bool reads = order.input == InputPolicy::all || (order.input == InputPolicy::first && rank.rank == 0);
  TUTTI_ASSIGN(
      auto process,
      RankProcess::start(
          loop_, rank.rank,
          {.words = order.command, .environment = std::move(environment), .folder = order.folder, .cpus = binding.cpus},
          reads ? RankProcess::Reads::input : RankProcess::Reads::nothing, *this));
  process->set_reading(is_reading_);
  send(Started{.rank = rank.rank, .pid = process->pid(), .binding = binding.text});
  ranks_.emplace(rank.rank, Member{.process = std::move(process), .sampled_at = os::now()});
  return {};
}

void Agent::hear(const AskSamples&) {
  const os::ProcessTree tree = os::ProcessTree::read();
  const Time now = os::now();
  Samples samples;
  for (auto& [rank, member] : ranks_) {
    if (member.process->has_exited()) continue;
    const os::TreeUse use = tree.use_of(member.process->pid());
    const double passed_s = static_cast<double>(now.ns - member.sampled_at.ns) * 1e-9;
    // Processes of a rank that have ended take their time with them: the sum may fall.
    const double used_s = std::max(0.0, use.cpu_s - member.cpu_s);
    Sample sample{.rank = rank,
                  .pid = member.process->pid(),
                  .cpu_permille = passed_s > 0 ? static_cast<std::uint32_t>(used_s / passed_s * 1000) : 0,
                  .memory_bytes = use.resident_bytes};
    member.sampled_at = now;
    member.cpu_s = use.cpu_s;
    if (settings_.complete) settings_.complete(sample);
    samples.samples.push_back(std::move(sample));
  }
  send(samples);
}

}  // namespace tutti::launch
