// `tutti check`: what this build and this machine, or a list of hosts, have, what is missing, and how to get it.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bootstrap/env/launch.h"
#include "launch/slurm_allocation.h"
#include "os/environment.h"
#include "tools/tutti/check/build_table.h"
#include "tools/tutti/check/cluster_json.h"
#include "tools/tutti/check/cluster_text.h"
#include "tools/tutti/check/hosts_run.h"
#include "tools/tutti/check/report_json.h"
#include "tools/tutti/check/report_text.h"
#include "tools/tutti/command.h"
#include "tools/tutti/run_settings.h"

namespace tutti::tool {

namespace {

constexpr std::size_t kColumnsWithoutTerminal = 120;

struct CheckOptions {
  bool is_json = false;
  bool shows_build = false;
  bool uses_slurm = false;
  double tolerance = 0.5;
  RunOptions run = {};  // hosts, and how they are reached
};

std::string text_of(const nlohmann::ordered_json& json) {
  // What programs answered may be no UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

int check_here(const CheckOptions& options) {
  const check::HostReport report = check::look_here();
  fmt::print("{}", options.is_json ? text_of(check::json_of(report)) + "\n" : check::text_of(report.findings));
  return check::is_usable(report.findings) ? kExitDone : kExitFailed;
}

check::HeatMapStyle style_here() {
  check::HeatMapStyle style{.columns_max = kColumnsWithoutTerminal};
  if (::isatty(STDOUT_FILENO) == 0) return style;
  style.has_colour = !os::environment_variable("NO_COLOR");
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.columns_max = size.ws_col;
  return style;
}

// Inside an allocation of several nodes, but not in a step of it: there every task would check them all.
bool is_on_many_nodes() {
  const auto launch = bootstrap::launch_of(os::environment_variable);
  const auto allocation = launch::slurm_allocation_of(os::environment_variable);
  return launch && !*launch && allocation && *allocation && (*allocation)->hosts.size() > 1;
}

int fail(const Status& status, int code) {
  fmt::print(stderr, "tutti check: {}\n", status.text());
  return code;
}

int check_many(const CheckOptions& options) {
  const Surroundings here = this_process();
  RunOptions run = options.run;
  run.ranks_per_host = 1;
  run.slots_per_host = 1;
  if (options.uses_slurm) run.launcher = "slurm";
  run.program = {here.executable.string()};  // the rest of it comes later
  auto settings = settings_of(run, here);
  if (!settings) return fail(settings.status(), kExitUsage);
  const auto cluster = check::check_hosts(*std::move(settings), here.host_name);
  if (!cluster) return fail(cluster.status(), kExitFailed);
  const check::Tolerance tolerance{.bandwidth = options.tolerance};
  fmt::print("{}", options.is_json ? text_of(check::json_of(*cluster, tolerance)) + "\n"
                                   : check::text_of(*cluster, tolerance, style_here()));
  return check::problems_of(*cluster, tolerance).empty() ? kExitDone : kExitFailed;
}

int run_check(const CheckOptions& options) {
  if (options.shows_build) {
    fmt::print("{}", check::build_table());
    return kExitDone;
  }
  const bool names_hosts = !options.run.hosts.empty() || !options.run.host_file.empty();
  return names_hosts || options.uses_slurm || is_on_many_nodes() ? check_many(options) : check_here(options);
}

void add_check_options(CLI::App& command, CheckOptions& options) {
  CLI::Option* json = command.add_flag("--json", options.is_json, "Print JSON, as the files in share/schemas say");
  command.add_flag("--build", options.shows_build, "Print the table that horovodrun --check-build prints")
      ->excludes(json);
  CLI::Option* hosts =
      command
          .add_option("-H,--hosts", options.run.hosts, "Check these hosts and the network between every two of them")
          ->type_name("LIST");
  CLI::Option* file =
      command.add_option("--hostfile", options.run.host_file, "The same with the hosts of a file")->type_name("FILE");
  command.add_flag("--slurm", options.uses_slurm, "The same with all nodes of this job of Slurm")
      ->excludes(hosts)
      ->excludes(file);
  command
      .add_option("--tolerance", options.tolerance,
                  "A way between two hosts is wrong below this part of the median bandwidth")
      ->type_name("PART")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("-p,--ssh-port", options.run.ssh_port, "The port of sshd on the hosts")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65'535));
  command.add_option("-i,--ssh-identity-file", options.run.ssh_identity, "The key for ssh")->type_name("FILE");
  command.add_option("--ssh-option", options.run.ssh_options, "An option for ssh, as after -o")
      ->type_name("NAME=VALUE")
      ->take_all();
  command.add_option("--jump", options.run.jump, "The host that leads to the others: ssh -J")->type_name("HOST");
  command.add_option("--agent-path", options.run.agent_path, "Where tutti lies on the hosts; as here unless given")
      ->type_name("PATH");
}

}  // namespace

void add_check_command(CLI::App& root, Commands& commands) {
  commands.add<CheckOptions>(
      root,
      {"check", "Say what this machine or a list of hosts has, what is missing and how to get it.",
       "tutti check\ntutti check --json\ntutti check -H gpu1,gpu2,gpu3\ntutti check --hostfile hosts.txt --tolerance "
       "0.8"},
      add_check_options, run_check);
}

}  // namespace tutti::tool
