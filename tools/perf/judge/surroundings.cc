#include "tools/perf/judge/surroundings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "tools/perf/judge/series.h"

namespace tutti::perf {

namespace {

Library library_of(const Run& run) {
  const std::string& name = run.setup.library;
  if (name.starts_with("Tutti")) return Library::tutti;
  if (name.starts_with("NCCL")) return Library::nccl;
  const auto is_virtual = [](const Seat& seat) { return seat.name.starts_with("Tutti"); };
  if (std::any_of(run.setup.seats.begin(), run.setup.seats.end(), is_virtual)) return Library::tutti;
  const bool has_gpus = std::any_of(run.setup.seats.begin(), run.setup.seats.end(), [](const Seat& seat) {
    return seat.name.starts_with("NVIDIA") || seat.name.starts_with("Tesla");
  });
  return has_gpus ? Library::nccl : Library::unknown;
}

const std::string* find_setting(const Surroundings& surroundings, std::string_view name) {
  for (const auto& [key, value] : surroundings.settings) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string settings_text(const Surroundings& surroundings, std::initializer_list<std::string_view> names) {
  std::vector<std::string> texts;
  for (const std::string_view name : names) texts.push_back(setting_text(surroundings, name));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string cores_text(const Surroundings& surroundings) {
  return fmt::format(
      "{} ranks share {} cores: measure with at most {} ranks (-g), or take these times for what they are",
      surroundings.ranks, *surroundings.cores, *surroundings.cores);
}

std::string network_remedy(const Surroundings& surroundings) {
  if (surroundings.library == Library::tutti) {
    return fmt::format("check {}; 'tutti check' says what the machine offers",
                       settings_text(surroundings, {"TUTTI_TRANSPORT", "TUTTI_SOCKET_IFNAME", "TUTTI_RAILS_MAX",
                                                    "TUTTI_SOCKETS_PER_PEER", "TUTTI_CONGESTION", "TUTTI_ENCRYPT"}));
  }
  return fmt::format(
      "check {}; whether NCCL_DEBUG=INFO shows NET/IB with all cards and GDRDMA rather than NET/Socket (an interface "
      "such as docker0 or lo); and whether ranks are bound to the NUMA node of their card",
      settings_text(surroundings, {"NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_GID_INDEX", "NCCL_IB_HCA",
                                   "NCCL_SOCKET_IFNAME", "NCCL_NET_GDR_LEVEL"}));
}

}  // namespace

Surroundings surroundings_of(const Run& run) {
  Surroundings found;
  found.library = library_of(run);
  found.ranks = rank_count(run).value_or(0);
  std::set<std::string> hosts;
  for (const Seat& seat : run.setup.seats) hosts.insert(seat.host);
  found.hosts = std::max<std::size_t>(1, hosts.size());
  const auto words = text::words(run.setup.processor);  // "8 cores of ..."
  if (words.size() > 1 && words[1].starts_with("core")) found.cores = text::integer_of<std::size_t>(words[0]);
  found.has_settings = !run.setup.tool_version.starts_with("nccl-tests") && !run.setup.library.empty();
  found.settings = run.setup.settings;
  return found;
}

std::string setting_text(const Surroundings& surroundings, std::string_view name) {
  if (const std::string* value = find_setting(surroundings, name)) return fmt::format("{} (now {})", name, *value);
  return surroundings.has_settings ? fmt::format("{} (unset)", name) : std::string(name);
}

std::optional<std::string> wrong_interface(const Surroundings& surroundings) {
  if (surroundings.hosts < 2) return std::nullopt;
  for (const std::string_view name : {"NCCL_SOCKET_IFNAME", "TUTTI_SOCKET_IFNAME"}) {
    const std::string* value = find_setting(surroundings, name);
    if (value == nullptr || value->starts_with('^')) continue;
    for (std::string_view word : text::split(*value, ',')) {
      word = text::trim(word);
      if (word.starts_with('=')) word.remove_prefix(1);
      if (word == "lo" || word.starts_with("docker") || word.starts_with("virbr")) {
        return fmt::format("{} names {}, which reaches no other host", name, word);
      }
    }
  }
  return std::nullopt;
}

std::string remedy_for_bandwidth(const Surroundings& surroundings) {
  if (surroundings.has_fewer_cores_than_ranks()) return cores_text(surroundings);
  if (surroundings.hosts > 1) return network_remedy(surroundings);
  if (surroundings.library == Library::nccl) {
    return fmt::format("check {}; whether 'nvidia-smi topo -m' shows the links that the topology has",
                       settings_text(surroundings, {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_MAX_NCHANNELS",
                                                    "NCCL_MAX_CTAS", "NCCL_ALGO"}));
  }
  return "check whether the topology's memory bandwidth is what this machine copies, whether other programs run, and "
         "whether ranks and their memory are on one NUMA node";
}

std::string remedy_for_latency(const Surroundings& surroundings) {
  if (surroundings.has_fewer_cores_than_ranks()) return cores_text(surroundings);
  if (surroundings.hosts > 1 && surroundings.library == Library::tutti) {
    return fmt::format("check {} and the round trip between the hosts (ping)",
                       settings_text(surroundings, {"TUTTI_TRANSPORT", "TUTTI_SOCKET_IFNAME", "TUTTI_MEASURE"}));
  }
  if (surroundings.hosts > 1) {
    return fmt::format("check {}, the binding of ranks to NUMA nodes, and power saving of processors and cards",
                       settings_text(surroundings, {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_PROTO"}));
  }
  return "check more warm-up iterations (-w), power saving of the processor, other programs, and the launch and step "
         "of "
         "the topology";
}

std::string remedy_for_dip(const Surroundings& surroundings, bool is_certain) {
  const std::string chance = is_certain ? "it is in every repetition, so it is no chance: "
                                        : "repeat to see whether it is chance; if it stays, ";
  if (surroundings.has_fewer_cores_than_ranks()) return chance + cores_text(surroundings);
  if (surroundings.library == Library::tutti) {
    return chance + "--explain shows whether another plan is chosen from that size on";
  }
  return fmt::format(
      "{}the library may change algorithm, protocol or channels there, or packets may get lost: check {}, "
      "and the error counters of the cards",
      chance,
      settings_text(surroundings, {"NCCL_ALGO", "NCCL_PROTO", "NCCL_MIN_NCHANNELS", "NCCL_IB_QPS_PER_CONNECTION"}));
}

std::string remedy_for_noise(const Surroundings& surroundings) {
  if (surroundings.has_fewer_cores_than_ranks()) return cores_text(surroundings);
  return "measure longer (-n) with more warm-up (-w), stop other programs, and bind ranks to cores and NUMA nodes";
}

}  // namespace tutti::perf
