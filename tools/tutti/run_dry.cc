#include "tools/tutti/run_dry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "launch/start/agent_words.h"
#include "launch/start/ssh_words.h"
#include "launch/start/tree.h"
#include "launch/variables.h"

namespace tutti::tool {

namespace {

using launch::HostIndex;
using launch::Seat;
using launch::Settings;
using launch::Starter;

// No port of a host is known before it has answered; this one stands for all of them until the text is made.
constexpr std::uint16_t kUnknownPort = 65535;

std::string join(const std::vector<std::string>& words) { return launch::quoted(words); }

launch::AgentCall call_of(const Settings& settings, HostIndex host) {
  const int extra = host == 0 ? 1 : 0;
  return {.path = settings.agent,
          .host = host,
          .ports = settings.layout.local_size(host) + extra,
          .silence = settings.silence};
}

std::string ranks_text(const Settings& settings, HostIndex host) {
  std::vector<Rank> ranks;
  for (const Seat& seat : settings.layout.seats) {
    if (seat.host == host) ranks.push_back(seat.rank);
  }
  const std::string_view plural = ranks.size() == 1 ? "" : "s";
  if (ranks.size() > 2) return fmt::format("ranks {} to {}", ranks.front(), ranks.back());
  return fmt::format("rank{} {}", plural, fmt::join(ranks, " and "));
}

std::string host_line(const Settings& settings, HostIndex host, std::string_view indent) {
  return fmt::format("{}{}: {}\n", indent, settings.layout.hosts[host].name, ranks_text(settings, host));
}

void add_bough(const Settings& settings, const launch::Bough& bough, std::size_t depth, std::string& text) {
  const std::string indent(2 * depth, ' ');
  const auto agent = launch::agent_words(call_of(settings, bough.host));
  const auto words =
      launch::ssh_words(settings.ssh, settings.start_timeout, settings.layout.hosts[bough.host].name, agent);
  text += host_line(settings, bough.host, indent);
  text += fmt::format("{}  {}\n", indent, join(words));
  for (const launch::Bough& next : bough.boughs) add_bough(settings, next, depth + 1, text);
}

std::string hosts_text(const Settings& settings) {
  const auto count = static_cast<HostIndex>(settings.layout.hosts.size());
  std::string text;
  switch (settings.starter) {
    case Starter::local:
      for (HostIndex host = 0; host < count; ++host) {
        text += host_line(settings, host, "");
        text += fmt::format("  {}\n", join(launch::agent_words(call_of(settings, host))));
      }
      break;
    case Starter::ssh: {
      std::vector<HostIndex> all;
      for (HostIndex host = 0; host < count; ++host) all.push_back(host);
      for (const auto& bough : launch::tree_of(all, settings.ssh.tree_width)) add_bough(settings, bough, 0, text);
      break;
    }
    case Starter::slurm: {
      launch::AgentCall call = call_of(settings, 0);
      for (HostIndex host = 0; host < count; ++host) {
        text += host_line(settings, host, "");
        call.ports = std::max(call.ports, call_of(settings, host).ports);
      }
      std::vector<std::string> words = {settings.slurm.program};
      words.insert(words.end(), settings.slurm.options.begin(), settings.slurm.options.end());
      const auto agent = launch::connecting_agent_words(call);
      words.insert(words.end(), agent.begin(), agent.end());
      text += fmt::format("  one step with one task on each of these nodes:\n  {}\n", join(words));
      break;
    }
  }
  return text;
}

launch::WorldFacts facts_of(const Settings& settings) {
  launch::WorldFacts facts{.job = settings.job, .store = "tcp:<secret>", .restarts_max = settings.restarts};
  for (HostIndex host = 0; host < settings.layout.hosts.size(); ++host) {
    const auto count = static_cast<std::size_t>(settings.layout.local_size(host)) + 1;
    facts.hosts.push_back({.address = fmt::format("<address of {}>", settings.layout.hosts[host].name),
                           .ports = std::vector<std::uint16_t>(count, kUnknownPort)});
  }
  return facts;
}

std::string without_ports(std::string text) {
  const std::string port = std::to_string(kUnknownPort);
  for (auto at = text.find(port); at != std::string::npos; at = text.find(port)) {
    text.replace(at, port.size(), "<free port>");
  }
  return text;
}

std::string variable_line(const std::pair<std::string, std::string>& variable) {
  return fmt::format("  {}\n", without_ports(fmt::format("{}={}", variable.first, variable.second)));
}

// First those that all ranks have in common, then for each rank the others.
std::string variables_text(const Settings& settings) {
  const launch::WorldFacts facts = facts_of(settings);
  std::vector<launch::Variables> all;
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Seat& seat : settings.layout.seats) {
    all.push_back(launch::variables_of(settings.layout, facts, seat, settings.environment));
    for (const auto& variable : all.back()) ++counts[variable];
  }
  std::string text = "every rank has\n";
  const auto is_of_all = [&](const auto& variable) { return counts[variable] == all.size(); };
  for (const auto& variable : all.front()) {
    if (is_of_all(variable)) text += variable_line(variable);
  }
  for (const Seat& seat : settings.layout.seats) {
    std::string own;
    for (const auto& variable : all[static_cast<std::size_t>(seat.rank)]) {
      if (!is_of_all(variable)) own += variable_line(variable);
    }
    if (!own.empty()) text += fmt::format("rank {} has\n{}", seat.rank, own);
  }
  return text;
}

std::string beginning(const Settings& settings) {
  constexpr std::string_view kWays[] = {"on this host", "over ssh", "by a step of Slurm"};
  const auto hosts = settings.layout.hosts.size();
  return fmt::format("{} rank{} on {} host{}, {}:\n  {}\n", settings.layout.size(),
                     settings.layout.size() == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s",
                     kWays[static_cast<std::size_t>(settings.starter)], join(settings.command));
}

}  // namespace

std::string dry_run_text(const Settings& settings) {
  if (settings.layout.seats.empty()) {
    return fmt::format("{} to {} ranks on the hosts that {} names, over ssh:\n  {}\n", settings.elastic.ranks_min,
                       settings.elastic.ranks_max > 0 ? std::to_string(settings.elastic.ranks_max) : "any number of",
                       settings.elastic.discovery_script, join(settings.command));
  }
  std::string text = beginning(settings);
  if (!settings.folder.empty()) text += fmt::format("  in {}\n", settings.folder);
  text += hosts_text(settings);
  text += variables_text(settings);
  return text;
}

}  // namespace tutti::tool
