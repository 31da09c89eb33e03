#include "launch/agent/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"

namespace tutti::launch {
namespace {

// One core with its hardware threads.
struct Core {
  int socket = 0;
  int numa = 0;
  std::vector<int> cpus = {};
};

// Neighbours lie beside each other.
std::vector<Core> cores_of(std::span<const os::CpuPlace> places) {
  std::map<std::tuple<int, int, int>, Core> cores;
  for (const os::CpuPlace& place : places) {
    Core& core = cores[{place.socket, place.numa, place.core}];
    core.socket = place.socket;
    core.numa = place.numa;
    core.cpus.push_back(place.cpu);
  }
  std::vector<Core> sorted;
  for (auto& [key, core] : cores) {
    std::ranges::sort(core.cpus);
    sorted.push_back(std::move(core));
  }
  return sorted;
}

// A core is called by the first of its threads, which is the number that other tools show.
std::string text_of(std::span<const Core> cores, const std::vector<int>& cpus) {
  std::vector<std::int32_t> names;
  for (const Core& core : cores) names.push_back(core.cpus.front());
  std::ranges::sort(names);
  const std::string text = fmt::format("{} {}", names.size() == 1 ? "core" : "cores", text::list_text(names));
  return names.size() == cpus.size() ? text : fmt::format("{} (threads {})", text, text::list_text(cpus));
}

Binding binding_of(std::span<const Core> cores, int sharers, const std::string& where) {
  Binding binding;
  for (const Core& core : cores) binding.cpus.insert(binding.cpus.end(), core.cpus.begin(), core.cpus.end());
  std::ranges::sort(binding.cpus);
  binding.core_count = std::max(1, static_cast<int>(cores.size()) / sharers);
  binding.text = where + text_of(cores, binding.cpus);
  return binding;
}

std::vector<Binding> bind_to_cores(const std::vector<Core>& cores, std::size_t ranks) {
  std::vector<Binding> bindings;
  const std::size_t each = cores.size() / ranks;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    bindings.push_back(binding_of(std::span(cores).subspan(rank * each, each), 1, ""));
  return bindings;
}

std::vector<Binding> bind_to_places(const std::vector<Core>& cores, std::size_t ranks, BindPolicy policy) {
  std::map<int, std::vector<Core>> places;
  for (const Core& core : cores) places[policy == BindPolicy::numa ? core.numa : core.socket].push_back(core);
  std::vector<const std::pair<const int, std::vector<Core>>*> order;
  for (const auto& place : places) order.push_back(&place);
  const auto place_of = [&](std::size_t rank) { return rank * order.size() / ranks; };
  std::vector<int> sharers(order.size(), 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) ++sharers[place_of(rank)];
  std::vector<Binding> bindings;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto& [number, inside] = *order[place_of(rank)];
    const std::string where = fmt::format("{} {}, ", policy == BindPolicy::numa ? "numa node" : "socket", number);
    bindings.push_back(binding_of(inside, sharers[place_of(rank)], where));
  }
  return bindings;
}

}  // namespace

Bindings bind_ranks(std::span<const os::CpuPlace> places, Rank local_size, BindPolicy policy) {
  const auto ranks = static_cast<std::size_t>(std::max<Rank>(local_size, 1));
  Bindings bindings;
  bindings.by_local_rank.resize(ranks);
  if (policy == BindPolicy::none) return bindings;
  const std::vector<Core> cores = cores_of(places);
  if (ranks > cores.size()) {
    bindings.note = fmt::format(
        "ranks are not bound: there are {} of them and {} cores; start fewer or use --bind none", ranks, cores.size());
    return bindings;
  }
  bindings.by_local_rank =
      policy == BindPolicy::core ? bind_to_cores(cores, ranks) : bind_to_places(cores, ranks, policy);
  return bindings;
}

}  // namespace tutti::launch
