#include "tools/tutti/rank_activity.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "comm/watch/reader.h"
#include "os/machine.h"
#include "os/small_file.h"

namespace tutti::tool {

namespace {

using comm::watch::CallState;
using comm::watch::RecordedCall;
using comm::watch::Recording;

constexpr std::size_t kProcessesMax = 64;  // that are looked into for one rank
constexpr double kWindow = 1.0;            // seconds
constexpr std::size_t kManyCalls = comm::watch::kRing / 2;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The kernel lists them for each thread, which is cheaper than looking at all processes of the machine.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(tasks.c_str()));
  if (folder == nullptr) return children;
  while (const dirent* task = readdir(folder.get())) {
    const std::string path = fmt::format("{}/{}/children", tasks, task->d_name);
    const std::string list = os::read_small_file(path).value_or("");
    for (const std::string_view word : text::words(list)) {
      if (const auto child = text::integer_of<pid_t>(word)) children.push_back(*child);
    }
  }
  return children;
}

// Of the process, or of the nearest below it that has any.
std::vector<Recording> recordings_of_rank(pid_t pid) {
  std::deque<pid_t> waiting = {pid};
  for (std::size_t seen = 0; seen < kProcessesMax && !waiting.empty(); ++seen) {
    const pid_t each = waiting.front();
    waiting.pop_front();
    if (auto recordings = comm::watch::read_process(each); recordings && !recordings->empty()) {
      return *std::move(recordings);
    }
    const auto children = children_of(each);
    waiting.insert(waiting.end(), children.begin(), children.end());
  }
  return {};
}

// As the process found it when it started.
std::optional<Rank> variable_of(pid_t pid, std::string_view name) {
  const std::string environment = os::read_small_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  for (const std::string_view line : text::split(environment, '\0')) {
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != '=') continue;
    return text::integer_of<Rank>(line.substr(name.size() + 1));
  }
  return std::nullopt;
}

// Ranks of a communicator need not be those of the job. The number in the job where it can be known, otherwise who it
// is in words.
std::string name_in_job(const Recording& recording, Rank other, Rank own) {
  if (recording.rank == own && variable_of(recording.pid, "TUTTI_SIZE") == recording.size) {
    return fmt::format("{}", other);
  }
  const auto index = static_cast<std::size_t>(other);
  if (index < recording.members.size() && recording.members[index].host == os::this_machine().host) {
    if (const auto rank = variable_of(recording.members[index].pid, "TUTTI_RANK")) return fmt::format("{}", *rank);
  }
  return recording.name_of_rank(other);
}

bool is_in_use(const Recording& recording) { return recording.life == comm::watch::Life::alive && !recording.ended; }

bool comes_before(const RecordedCall& one, const RecordedCall& other) {
  const bool one_waits = one.waits_for != kNoRank;
  const bool other_waits = other.waits_for != kNoRank;
  if (one_waits != other_waits) return one_waits;
  return one.started_s < other.started_s;
}

// Messages and collectives are remembered apart, so each kind has a window of its own.
double rate_of(const Recording& recording, bool is_message) {
  double start_s = recording.taken_s - kWindow;
  std::size_t count = 0;
  double first_s = recording.taken_s;
  for (const RecordedCall& call : recording.calls) {
    if ((call.other != kNoRank) != is_message) continue;
    ++count;
    first_s = std::min(first_s, call.started_s);
  }
  // Older calls were overwritten. Of few calls all are there.
  if (count >= kManyCalls) start_s = std::max(start_s, first_s);
  const double window_s = recording.taken_s - start_s;
  if (window_s <= 0) return 0;
  double bytes = 0;
  for (const RecordedCall& call : recording.calls) {
    if ((call.other != kNoRank) != is_message || call.state != CallState::done) continue;
    const double finished_s = std::max(call.finished_s.value_or(call.started_s), call.started_s);
    if (finished_s < start_s) continue;
    const double duration_s = finished_s - call.started_s;
    const double inside_s = finished_s - std::max(call.started_s, start_s);
    bytes += static_cast<double>(call.bytes) * (duration_s > 0 ? inside_s / duration_s : 1.0);
  }
  return bytes / window_s;
}

}  // namespace

std::optional<CurrentCall> current_call(std::span<const Recording> recordings) {
  std::optional<CurrentCall> current;
  for (const Recording& recording : recordings) {
    if (!is_in_use(recording)) continue;
    for (const RecordedCall& call : recording.calls) {
      // A queued one waits for an earlier call of the same rank, which says more.
      if (call.is_over() || call.state == CallState::queued) continue;
      if (!current || comes_before(call, *current->call)) current = {&recording, &call};
    }
  }
  return current;
}

std::uint64_t bytes_per_s(std::span<const Recording> recordings) {
  double sum = 0;
  for (const Recording& recording : recordings) sum += rate_of(recording, false) + rate_of(recording, true);
  return static_cast<std::uint64_t>(sum);
}

void add_activity(launch::Sample& sample) {
  if (sample.pid <= 0) return;
  const auto recordings = recordings_of_rank(sample.pid);
  sample.bytes_per_s = bytes_per_s(recordings);
  const auto current = current_call(recordings);
  if (!current) return;
  sample.call = current->call->text();
  if (current->call->waits_for == kNoRank) return;
  sample.waits_for = name_in_job(*current->recording, current->call->waits_for, sample.rank);
}

}  // namespace tutti::tool
