// `tutti kill`: ends jobs and waits until they are gone, or sends a signal to their ranks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "launch/control/client.h"
#include "launch/control/folder.h"
#include "os/backoff.h"
#include "os/clock.h"
#include "os/process.h"
#include "tools/tutti/command.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/signal_name.h"

namespace tutti::tool {

namespace {

namespace control = launch::control;

constexpr std::chrono::seconds kPatience{5};  // until the launcher has answered
constexpr Rank kAllRanks = kNoRank;

struct KillOptions {
  std::vector<std::string> names = {};
  std::string signal = {};
  Rank rank = kAllRanks;
  bool is_now = false;
  bool is_all = false;
  double wait_s = 60;
};

Status validate(const KillOptions& options) {
  if (options.is_all && !options.names.empty()) return invalid_argument("give either names or --all");
  if (!options.is_all && options.names.empty()) {
    return invalid_argument("name a job, as 'tutti ps' lists them, or give --all");
  }
  if (options.rank < 0 && options.rank != kAllRanks) {
    return invalid_argument(fmt::format("--rank {} is no rank; they count from 0", options.rank));
  }
  if (!options.signal.empty() && options.is_now) return invalid_argument("--now means SIGKILL: give no --signal");
  if (!options.signal.empty() && !signal_of(options.signal)) {
    return invalid_argument(fmt::format("'{}' is no signal; give a name such as USR1 or a number from 1 to {}",
                                        options.signal, control::kSignalMax));
  }
  return {};
}

Result<std::vector<control::Entry>> chosen_jobs(const KillOptions& options) {
  const auto jobs = control::find_jobs(control::job_folders());
  if (options.is_all) return jobs;
  std::vector<control::Entry> chosen;
  for (const std::string& name : options.names) {
    TUTTI_ASSIGN(const auto job, control::choose_job(jobs, name));
    if (std::ranges::find(chosen, job) == chosen.end()) chosen.push_back(job);
  }
  return chosen;
}

bool is_signal_only(const KillOptions& options) { return !options.signal.empty() || options.rank != kAllRanks; }

control::Request request_of(const KillOptions& options) {
  if (!is_signal_only(options)) return {.ask = options.is_now ? control::Ask::kill : control::Ask::stop};
  const int standard = options.is_now ? SIGKILL : SIGTERM;
  return {.ask = control::Ask::signal,
          .signal = options.signal.empty() ? standard : signal_of(options.signal).value_or(standard),
          .rank = options.rank};
}

// The socket closes a moment before the process of the launcher is gone.
bool wait_for_end_of(pid_t pid, Deadline deadline) {
  os::Backoff backoff;
  while (true) {
    const os::ProcessState state = os::state_of(pid);
    if (state == os::ProcessState::gone || state == os::ProcessState::zombie) return true;
    if (deadline.has_passed(os::now())) return false;
    backoff.pause(deadline);
  }
}

struct Asked {
  control::Entry job;
  control::Client client;
  pid_t launcher = 0;
};

Result<Asked> ask(const control::Entry& job, const control::Request& request) {
  const Deadline deadline = Deadline::after(os::now(), kPatience);
  TUTTI_ASSIGN(auto client, control::Client::connect(job.path, deadline));
  TUTTI_ASSIGN(const auto status, client.ask({.ask = control::Ask::status}, deadline));
  TUTTI_ASSIGN([[maybe_unused]] const auto done, client.ask(request, deadline));
  return Asked{job, std::move(client), status.job ? status.job->pid : 0};
}

void say_sent(const control::Entry& job, const control::Request& request) {
  const std::string whom = request.rank == kAllRanks ? "all ranks" : fmt::format("rank {}", request.rank);
  fmt::print("sent {} to {} of job '{}'\n", signal_name(request.signal), whom, job.name);
}

Status wait_for(Asked& asked, Deadline deadline, double wait_s) {
  const bool is_gone =
      asked.client.wait_for_end(deadline) && (asked.launcher == 0 || wait_for_end_of(asked.launcher, deadline));
  if (is_gone) return {};
  return {Code::timed_out, fmt::format("job '{}' has not ended within {} s; 'tutti kill --now {}' ends it at once",
                                       asked.job.name, wait_s, asked.job.name)};
}

int kill(const KillOptions& options) {
  if (const Status status = validate(options); !status) return refuse(status);
  const auto jobs = chosen_jobs(options);
  if (!jobs) return fail(jobs.status());
  if (jobs->empty()) fmt::print("no job runs on this machine\n");
  const control::Request request = request_of(options);
  int result = kExitDone;
  std::vector<Asked> ending;
  for (const control::Entry& job : *jobs) {
    auto asked = ask(job, request);
    if (!asked && asked.status().code() == Code::peer_lost && request.ask != control::Ask::signal) {
      fmt::print("job '{}' is gone\n", job.name);
    } else if (!asked) {
      result = fail(asked.status().while_doing(fmt::format("job '{}'", job.name)));
    } else if (request.ask == control::Ask::signal) {
      say_sent(job, request);
    } else {
      ending.push_back(*std::move(asked));
    }
  }
  const Deadline deadline = Deadline::after(
      os::now(), std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.wait_s)));
  for (Asked& each : ending) {
    if (const Status status = wait_for(each, deadline, options.wait_s); !status) {
      result = fail(status);
    } else {
      fmt::print("job '{}' is gone\n", each.job.name);
    }
  }
  return result;
}

}  // namespace

void add_kill_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, KillOptions& options) {
    command.add_option("NAME", options.names, "A job, by its name in 'tutti ps' or the beginning of it");
    command.add_flag("--all", options.is_all, "All your jobs whose launcher runs on this machine");
    command.add_flag("--now", options.is_now, "SIGKILL at once, without SIGTERM and the grace");
    command.add_option("--signal", options.signal, "Only send this signal to the ranks: a name or a number")
        ->type_name("SIGNAL");
    command.add_option("--rank", options.rank, "Only this rank: SIGTERM, or what --signal or --now says")
        ->type_name("RANK");
    command.add_option("--wait", options.wait_s, "How many seconds a job may take to end")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1e6));
  };
  commands.add<KillOptions>(
      root,
      {"kill", "End a job on all its hosts, and wait until it is gone.",
       "tutti kill train\ntutti kill train --now\ntutti kill train --signal USR1\ntutti kill train "
       "--rank 3 --now\ntutti kill --all"},
      add_options, kill);
}

}  // namespace tutti::tool
