#include "tools/tutti/run_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <system_error>

#include "base/text.h"
#include "launch/forwarding.h"
#include "os/entropy.h"
#include "os/machine.h"
#include "tools/tutti/facade_paths.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/run_hosts.h"

namespace tutti::tool {

namespace {

using launch::Settings;
using launch::Starter;

constexpr std::size_t kNameBytesMax = 64;

std::chrono::seconds whole_seconds(double seconds) {
  return std::chrono::seconds(static_cast<std::int64_t>(std::ceil(seconds)));
}

// Four letters that people can say, by chance.
Result<std::string> chance_name() {
  constexpr std::string_view kLetters = "bcdfghjkmnpqrstvwxz23456789";
  std::array<std::byte, 4> bytes;
  TUTTI_TRY(os::fill_random(bytes));
  std::string name;
  for (const std::byte byte : bytes) name += kLetters[std::to_integer<std::size_t>(byte) % kLetters.size()];
  return name;
}

Result<std::string> name_of(const RunOptions& options) {
  if (options.name.empty()) return options.is_dry ? Result<std::string>("<job>") : chance_name();
  const bool is_plain = options.name.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "._-") == std::string::npos;
  if (is_plain && options.name[0] != '-' && options.name[0] != '.' && options.name.size() <= kNameBytesMax) {
    return options.name;
  }
  return invalid_argument(
      fmt::format("--name '{}' is no name for a job; use up to {} letters, digits, '.', '_' and '-'",
                  options.name.substr(0, kNameBytesMax), kNameBytesMax));
}

// With Tutti's libraries in front of those that are there.
Status add_facades(const Surroundings& surroundings, launch::Variables& variables) {
  const auto paths = find_facades(surroundings.executable);
  if (!paths) return paths.status().while_doing("--preload-nccl");
  const auto put_in_front = [&](std::string_view name, const std::string& text) {
    const std::string* old = launch::find_variable(variables, name);
    if (old == nullptr) old = launch::find_variable(surroundings.environment, name);
    const bool has_old = old != nullptr && !old->empty();
    launch::set_variable(variables, name, has_old ? fmt::format("{}:{}", text, *old) : text);
  };
  std::string folders;
  for (const auto& folder : paths->libraries) folders += (folders.empty() ? "" : ":") + folder.string();
  put_in_front("LD_LIBRARY_PATH", folders);
  // Programs with a search path of their own, as those of PyTorch, would find another one first.
  put_in_front("LD_PRELOAD", (paths->libraries.front() / "libnccl.so.2").string());
  return {};
}

Result<launch::Variables> environment_of(const RunOptions& options, const Surroundings& surroundings, Starter starter) {
  launch::Variables variables;
  if (!options.forwards_nothing) variables = launch::forwarded(surroundings.environment, starter);
  if (!options.environment_file.empty()) {
    TUTTI_ASSIGN(const std::string text, read_text(options.environment_file));
    auto some = launch::parse_environment_file(text, surroundings.environment);
    if (!some) return some.status().while_doing(fmt::format("reading {}", options.environment_file));
    for (auto& [name, value] : *some) launch::set_variable(variables, name, std::move(value));
  }
  if (!options.interfaces.empty()) launch::set_variable(variables, "TUTTI_SOCKET_IFNAME", options.interfaces);
  for (const std::string& text : options.environment) {
    auto assignment = launch::parse_assignment(text, surroundings.environment);
    if (!assignment) return assignment.status().while_doing("--env");
    launch::set_variable(variables, assignment->first, std::move(assignment->second));
  }
  if (options.preloads_nccl) TUTTI_TRY(add_facades(surroundings, variables));
  return variables;
}

launch::BindPolicy bind_of(std::string_view word) {
  if (word == "core") return launch::BindPolicy::core;
  if (word == "numa") return launch::BindPolicy::numa;
  return word == "socket" ? launch::BindPolicy::socket : launch::BindPolicy::none;
}

launch::InputPolicy input_of(std::string_view word) {
  if (word == "none") return launch::InputPolicy::none;
  return word == "all" ? launch::InputPolicy::all : launch::InputPolicy::first;
}

Result<launch::OutputSettings> output_of(const RunOptions& options, Rank size) {
  launch::OutputSettings output{
      .has_timestamps = options.has_timestamps,
      .folder = options.output,
      .file_names = options.has_horovod_files ? launch::FileNames::horovod : launch::FileNames::flat,
      .also_prints = options.also_prints};
  if (options.has_open_mpi_tags && options.tag == "none") {
    return invalid_argument("--tag-output and --tag none contradict each other; leave one of them away");
  }
  if (options.tag == "none") output.tag = launch::Tag::none;
  if (options.tag == "ompi" || options.has_open_mpi_tags) output.tag = launch::Tag::open_mpi;
  if (options.colour == "always") output.colour = launch::Colour::always;
  if (options.colour == "never") output.colour = launch::Colour::never;
  if (options.also_prints && options.output.empty()) {
    return invalid_argument("--tee prints what is written to files, but --output names no folder for them");
  }
  if (options.only.empty()) return output;
  const auto only = text::list_of(options.only, size > 0 ? size - 1 : 1'000'000);
  if (!only) {
    return invalid_argument(fmt::format("--only {} is no list of ranks from 0 to {}; write it as 0,3 or 0-3",
                                        options.only.substr(0, 80), size - 1));
  }
  output.only = *only;
  return output;
}

Result<launch::ElasticSettings> elastic_of(const RunOptions& options) {
  launch::ElasticSettings elastic{.ranks_min = options.ranks_min,
                                  .ranks_max = options.ranks_max,
                                  .discovery_script = options.discovery_script,
                                  .slots_per_host = std::max(1, options.slots_per_host),
                                  .wait = whole_seconds(options.elastic_timeout_s)};
  const bool is_elastic = options.ranks_min > 0;
  if (!options.discovery_script.empty() && !is_elastic) elastic.ranks_min = std::max(1, options.ranks);
  if (options.ranks_max > 0 && elastic.ranks_min == 0) elastic.ranks_min = std::max(1, options.ranks);
  if (elastic.ranks_min == 0) {
    if (options.cooldown_s.empty()) return elastic;
    return invalid_argument("--blacklist-cooldown-range is for jobs that may shrink; give --min-np as well");
  }
  if (elastic.ranks_max > 0 && elastic.ranks_max < elastic.ranks_min) {
    return invalid_argument(fmt::format("--max-np {} is less than --min-np {}; raise the first or lower the second",
                                        elastic.ranks_max, elastic.ranks_min));
  }
  if (options.ranks > 0 && options.ranks < elastic.ranks_min) {
    return invalid_argument(fmt::format("-np {} is less than --min-np {}; raise the first or lower the second",
                                        options.ranks, elastic.ranks_min));
  }
  if (options.ranks > 0 && elastic.ranks_max > 0 && options.ranks > elastic.ranks_max) {
    return invalid_argument(fmt::format("-np {} is more than --max-np {}; lower the first or raise the second",
                                        options.ranks, elastic.ranks_max));
  }
  if (options.cooldown_s.empty()) return elastic;
  if (options.cooldown_s[0] > options.cooldown_s[1]) {
    return invalid_argument(fmt::format("--blacklist-cooldown-range {} {} goes backwards; write the smaller first",
                                        options.cooldown_s[0], options.cooldown_s[1]));
  }
  elastic.cooldown_min = std::chrono::seconds(options.cooldown_s[0]);
  elastic.cooldown_max = std::chrono::seconds(options.cooldown_s[1]);
  return elastic;
}

Status add_ways(const RunOptions& options, const Surroundings& surroundings, Settings& settings) {
  const bool has_ssh_options =
      options.ssh_port > 0 || !options.ssh_identity.empty() || !options.ssh_options.empty() || !options.jump.empty();
  if (has_ssh_options && settings.starter == Starter::slurm) {
    return invalid_argument(
        "options for ssh have no meaning inside an allocation of Slurm; leave them away, or use "
        "--launcher ssh");
  }
  if (!options.srun_options.empty() && settings.starter != Starter::slurm) {
    return invalid_argument("--srun-option has a meaning only inside an allocation of Slurm; leave it away");
  }
  if (options.ssh_port > 0) settings.ssh.port = static_cast<std::uint16_t>(options.ssh_port);
  settings.ssh.identity = options.ssh_identity;
  settings.ssh.jump = options.jump;
  settings.ssh.options = options.ssh_options;
  settings.ssh.tree_width = options.tree_width;
  settings.slurm.options = options.srun_options;
  settings.agent = options.agent_path.empty() ? surroundings.executable.string() : options.agent_path;
  return {};
}

void add_times(const RunOptions& options, Settings& settings) {
  settings.grace = std::chrono::milliseconds(static_cast<std::int64_t>(options.grace_s * 1000));
  if (options.timeout_s > 0) settings.timeout = whole_seconds(options.timeout_s);
  settings.start_timeout = whole_seconds(options.start_timeout_s);
  settings.silence = whole_seconds(options.silence_s);
  settings.restarts = options.restarts;
}

Status check(const RunOptions& options) {
  if (options.names_another) {
    return invalid_argument("--torchrun and --horovodrun come first, because they say how the others are meant");
  }
  if (options.program.empty()) {
    return invalid_argument("no program is given; write it behind the options, as in 'tutti run -np 4 ./program'");
  }
  if (options.program.front().empty()) return invalid_argument("the name of the program is empty");
  if (options.start_timeout_s <= 0 || options.silence_s <= 0) {
    return invalid_argument("--start-timeout and --silence are longer than 0 seconds");
  }
  if (options.bind != "none" && options.may_oversubscribe) {
    return invalid_argument(
        fmt::format("--bind {} gives each rank what is its own, and --oversubscribe has them share; "
                    "leave one of them away",
                    options.bind));
  }
  return {};
}

}  // namespace

Surroundings this_process() {
  Surroundings surroundings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    launch::set_variable(surroundings.environment, text.substr(0, equals), std::string(text.substr(equals + 1)));
  }
  surroundings.host_name = os::this_machine().host;
  std::error_code error;
  surroundings.executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return surroundings;
}

Result<Settings> settings_of(const RunOptions& options, const Surroundings& surroundings) {
  TUTTI_TRY(check(options));
  Settings settings;
  TUTTI_ASSIGN(settings.elastic, elastic_of(options));
  TUTTI_ASSIGN(Hosts hosts, hosts_of(options, surroundings));
  settings.starter = hosts.starter;
  settings.layout = std::move(hosts.layout);
  settings.elastic.hosts = std::move(hosts.all);
  TUTTI_TRY(add_ways(options, surroundings, settings));
  TUTTI_ASSIGN(settings.job, name_of(options));
  settings.command = options.program;
  settings.folder = options.folder;
  TUTTI_ASSIGN(settings.environment, environment_of(options, surroundings, settings.starter));
  // Other hosts have variables of their own that a login or Slurm has set; those that come along lie on top.
  settings.inherits_environment = options.forwards_nothing || settings.starter != Starter::local;
  settings.bind = bind_of(options.bind);
  settings.reports_bindings = options.reports_bindings;
  settings.devices_per_rank = options.devices_per_rank;
  settings.input = input_of(options.input);
  TUTTI_ASSIGN(settings.output, output_of(options, settings.layout.size()));
  add_times(options, settings);
  settings.verbosity = options.verbosity;
  return settings;
}

}  // namespace tutti::tool
