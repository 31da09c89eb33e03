// `tutti ps`: the jobs that run on this machine, and where their ranks are.
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "launch/control/client.h"
#include "launch/control/folder.h"
#include "os/clock.h"
#include "tools/tutti/command.h"
#include "tools/tutti/job_text.h"

namespace tutti::tool {

namespace {

using launch::JobStatus;
namespace control = launch::control;

constexpr std::chrono::seconds kPatience{5};  // a launcher answers within milliseconds unless it is stopped

struct PsOptions {
  bool has_ranks = false;
  bool is_json = false;
};

// nullopt: it has ended in between.
Result<std::optional<JobStatus>> status_of(const control::Entry& entry) {
  const Deadline deadline = Deadline::after(os::now(), kPatience);
  auto client = control::Client::connect(entry.path, deadline);
  auto answer = client ? client->ask({.ask = control::Ask::status}, deadline) : client.status();
  if (answer && answer->job) return std::optional(*std::move(answer->job));
  if (answer || answer.status().code() == Code::peer_lost) return std::optional<JobStatus>();
  if (answer.status().code() == Code::timed_out) {
    return Status(Code::timed_out, fmt::format("job '{}' does not answer within {} s; its launcher may be stopped",
                                               entry.name, kPatience.count()));
  }
  return answer.status().while_doing(fmt::format("job '{}'", entry.name));
}

int ps(const PsOptions& options) {
  std::vector<JobStatus> jobs;
  int result = kExitDone;
  for (const control::Entry& entry : control::find_jobs(control::job_folders())) {
    auto job = status_of(entry);
    if (!job) {
      fmt::print(stderr, "tutti: {}\n", job.status().text());
      result = kExitFailed;
    } else if (job->has_value()) {
      jobs.push_back(**std::move(job));
    }
  }
  const Time now = os::now();
  if (options.is_json) {
    fmt::print("{}", control::json_of(jobs, now, 1));
    return result;
  }
  if (jobs.empty()) {
    if (result == kExitDone) fmt::print("no job runs on this machine\n");
    return result;
  }
  for (const std::string& line : options.has_ranks ? ranks_table(jobs) : jobs_table(jobs, now))
    fmt::print("{}\n", line);
  return result;
}

}  // namespace

void add_ps_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, PsOptions& options) {
    command.add_flag("-l,--ranks", options.has_ranks, "One line for each rank: its host, process and state");
    command.add_flag("--json", options.is_json, "Print all that is known as JSON (share/schemas/job.schema.json)");
  };
  commands.add<PsOptions>(
      root,
      {"ps", "List your jobs whose launcher runs on this machine.", "tutti ps\ntutti ps --ranks\ntutti ps --json"},
      add_options, ps);
}

}  // namespace tutti::tool
