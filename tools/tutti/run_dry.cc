#include "tools/tutti/run_dry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "launch/forwarding.h"
#include "launch/start/commands.h"
#include "launch/start/link.h"
#include "launch/start/slurm_words.h"
#include "launch/start/ssh_words.h"
#include "launch/variables.h"
#include "os/machine.h"

namespace tutti::tool {

namespace {

using launch::HostIndex;
using launch::Seat;
using launch::Settings;
using launch::Starter;

// No port of a host is known before it has answered; this one stands for all of them until the text is made.
constexpr std::uint16_t kUnknownPort = 65535;

std::string join(const std::vector<std::string>& words) { return launch::quoted(words); }

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
  text += host_line(settings, bough.host, indent);
  text += fmt::format("{}  {}\n", indent, join(launch::ssh_command(settings, bough.host)));
  for (const launch::Bough& next : bough.boughs) add_bough(settings, next, depth + 1, text);
}

std::string step_text(const Settings& settings) {
  std::string text;
  for (HostIndex host = 0; host < settings.layout.hosts.size(); ++host) text += host_line(settings, host, "");
  const auto words = launch::srun_words(settings.slurm, settings.layout.hosts, launch::step_agent_command(settings));
  return text + fmt::format("all of these by one step:\n  {}\n", join(words));
}

// Hosts that are started by others stand below them.
std::string hosts_text(const Settings& settings) {
  if (settings.starter == Starter::slurm) return step_text(settings);
  const launch::Ways ways = launch::ways_of(settings, os::this_machine().host);
  std::string text;
  for (const HostIndex host : ways.here) {
    text += host_line(settings, host, "");
    text += fmt::format("  {}\n", join(launch::local_command(settings, host, launch::own_program())));
  }
  for (const launch::Bough& bough : ways.over_ssh) add_bough(settings, bough, 0, text);
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

// First those that the user has set, then what all ranks have in common, then for each rank the others.
std::string variables_text(const Settings& settings, const launch::Variables& environment) {
  const launch::WorldFacts facts = facts_of(settings);
  std::vector<launch::Variables> all;
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Seat& seat : settings.layout.seats) {
    all.push_back(launch::variables_of(settings.layout, facts, seat, settings.environment));
    for (const auto& variable : all.back()) ++counts[variable];
  }
  std::string text = "every rank has\n";
  std::size_t passed_on = 0;
  for (const auto& variable : settings.environment) {
    const std::string* here = launch::find_variable(environment, variable.first);
    if (here != nullptr && *here == variable.second) {
      ++passed_on;
    } else {
      text += variable_line(variable);
    }
  }
  const auto is_of_all = [&](const auto& variable) { return counts[variable] == all.size(); };
  for (const auto& variable : all.front()) {
    if (is_of_all(variable)) text += variable_line(variable);
  }
  if (passed_on > 0) text += fmt::format("  and {} that are set here\n", passed_on);
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

std::string dry_run_text(const Settings& settings, const launch::Variables& environment) {
  if (settings.layout.seats.empty()) {
    return fmt::format("{} to {} ranks on the hosts that {} names, over ssh:\n  {}\n", settings.elastic.ranks_min,
                       settings.elastic.ranks_max > 0 ? std::to_string(settings.elastic.ranks_max) : "any number of",
                       settings.elastic.discovery_script, join(settings.command));
  }
  std::string text = beginning(settings);
  if (!settings.folder.empty()) text += fmt::format("  in {}\n", settings.folder);
  text += hosts_text(settings);
  text += variables_text(settings, environment);
  return text;
}

}  // namespace tutti::tool
