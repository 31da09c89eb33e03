// `tutti inspect`: what the ranks in a process of this machine are doing, without asking the process.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "comm/watch/json.h"
#include "comm/watch/late.h"
#include "comm/watch/reader.h"
#include "os/machine.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

using comm::watch::RecordedCall;
using comm::watch::Recording;

struct InspectOptions {
  int pid = 0;
  std::size_t calls = 8;
  bool is_json = false;
  bool is_all = false;
  bool has_stack = false;
};

std::string time_text(const Recording& recording, const RecordedCall& call) {
  const double begun_s = recording.taken_s - call.started_s;
  if (call.finished_s) return fmt::format("took {}", text::seconds_text(*call.finished_s - call.started_s));
  if (call.state == comm::watch::CallState::done) return fmt::format("{} ago", text::seconds_text(begun_s));
  return fmt::format("since {}", text::seconds_text(begun_s));
}

std::string state_text(const Recording& recording) {
  if (recording.ended) return fmt::format("ended ({}): {}", name_of(*recording.ended), recording.reason);
  return recording.life == comm::watch::Life::left ? "left" : "alive";
}

void print(const Recording& recording, std::size_t calls_max) {
  fmt::print("communicator {:016x}: rank {} of {}, {}\n", recording.communicator, recording.rank, recording.size,
             state_text(recording));
  if (recording.calls.empty()) fmt::print("  no call yet\n");
  const std::size_t shown = std::min(calls_max, recording.calls.size());
  for (std::size_t i = recording.calls.size() - shown; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const std::string number = call.number == 0 ? "-" : fmt::format("{}", call.number);
    fmt::print("  {:>8} {:<8} {:<40} {:<10} {}{}\n", number, name_of(call.state), call.text(),
               call.plan.empty() ? "-" : call.plan, time_text(recording, call),
               call.waits_for == kNoRank || call.is_over()
                   ? ""
                   : fmt::format(", waits for {}", recording.name_of_rank(call.waits_for)));
  }
}

void print_activity(int pid, bool has_stack) {
  using comm::watch::StackWish;
  const auto activity = activity_of(pid, has_stack ? StackWish::with_stack : StackWish::without_stack);
  fmt::print("process {}: {}\n", pid, text_of(activity));
  if (!has_stack) return;
  for (std::size_t i = 0; i < activity.stack.size(); ++i) fmt::print("  #{:<2} {}\n", i, activity.stack[i]);
  if (!activity.stack_note.empty()) fmt::print("  no stack: {}\n", activity.stack_note);
}

// The processes of this machine that have ranks of the same communicators, the given one first.
std::vector<int> pids_of(int pid, const std::vector<Recording>& recordings) {
  const std::string& host = os::this_machine().host;
  std::set<int> others;
  for (const Recording& recording : recordings) {
    for (const auto& member : recording.members) {
      if (member.host == host && member.pid != pid && member.pid != recording.pid) others.insert(member.pid);
    }
  }
  std::vector<int> pids = {pid};
  pids.insert(pids.end(), others.begin(), others.end());
  return pids;
}

int inspect(const InspectOptions& options) {
  const auto first = comm::watch::read_process(options.pid);
  if (!first) {
    fmt::print(stderr, "tutti: {}\n", first.status().text());
    return kExitFailed;
  }
  std::vector<Recording> all;
  int result = kExitDone;
  for (const int pid : options.is_all ? pids_of(options.pid, *first) : std::vector<int>{options.pid}) {
    const auto recordings = pid == options.pid ? first : comm::watch::read_process(pid);
    if (!recordings) {
      fmt::print(stderr, "tutti: {}\n", recordings.status().text());
      result = kExitFailed;
      continue;
    }
    all.insert(all.end(), recordings->begin(), recordings->end());
    if (options.is_json) continue;
    print_activity(pid, options.has_stack);
    if (recordings->empty()) fmt::print("no communicator\n");
    for (const Recording& recording : *recordings) print(recording, options.calls);
  }
  if (options.is_json) fmt::print("{}", comm::watch::json_of(all));
  return result;
}

}  // namespace

void add_inspect_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, InspectOptions& options) {
    command.add_option("PID", options.pid, "A process of this machine that uses Tutti")->required();
    command.add_flag("--all", options.is_all, "Also the other processes of this machine that share its communicators");
    command.add_option("--calls", options.calls, "How many of the last calls to show")
        ->type_name("N")
        ->capture_default_str();
    command.add_flag("--json", options.is_json, "Print all that is recorded as JSON");
    command.add_flag("--stack", options.has_stack,
                     "Also the stack of the main thread; the process is halted for a moment");
  };
  commands.add<InspectOptions>(root,
                               {"inspect", "Show the last calls of a process, even of one that hangs or is stopped.",
                                "tutti inspect 4711\ntutti inspect 4711 --all\ntutti inspect 4711 --stack\ntutti "
                                "inspect 4711 --json > rank3.json"},
                               add_options, inspect);
}

}  // namespace tutti::tool
