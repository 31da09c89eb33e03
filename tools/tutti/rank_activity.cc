#include "tools/tutti/rank_activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "comm/watch/reader.h"
#include "os/clock.h"
#include "os/process_tree.h"

namespace tutti::tool {

namespace {

using comm::watch::RecordedCall;
using comm::watch::Recording;

constexpr double kWindow_s = 2;                     // over which bytes are counted
constexpr std::chrono::milliseconds kTreeAge(100);  // samples of all ranks are taken in a row
constexpr std::size_t kDescendantsMax = 16;         // that are asked for a recorder

double bytes_per_s(const Recording& recording) {
  double bytes = 0, since = recording.taken_s;
  for (const RecordedCall& call : recording.calls) {
    if (call.started_s < recording.taken_s - kWindow_s) continue;
    since = std::min(since, call.started_s);
    if (call.state == comm::watch::CallState::done) bytes += static_cast<double>(call.bytes);
  }
  return since < recording.taken_s ? bytes / (recording.taken_s - since) : 0;
}

// The processes of ranks that have a recorder: a rank is often a shell or an interpreter around them.
class Recorders {
 public:
  std::vector<Recording> read(pid_t pid) {
    if (auto recordings = comm::watch::read_process(pid); recordings && !recordings->empty()) return *recordings;
    const Time now = os::now();
    if (!tree_ || Deadline::after(read_at_, kTreeAge).has_passed(now)) {
      tree_ = os::ProcessTree::read();
      read_at_ = now;
    }
    const auto below = tree_->descendants_of(pid);
    for (std::size_t index = 0; index < std::min(below.size(), kDescendantsMax); ++index) {
      if (auto recordings = comm::watch::read_process(below[index].pid); recordings && !recordings->empty())
        return *recordings;
    }
    return {};
  }

 private:
  std::optional<os::ProcessTree> tree_;
  Time read_at_ = {};
};

}  // namespace

void describe(const std::vector<Recording>& recordings, launch::Sample& sample) {
  double rate = 0;
  for (const Recording& recording : recordings) {
    rate += bytes_per_s(recording);
    const auto open = std::ranges::find_if(recording.calls, [](const RecordedCall& call) { return !call.is_over(); });
    if (open == recording.calls.end() || !sample.call.empty()) continue;
    sample.call = open->text();
    if (open->waits_for != kNoRank) sample.waits_for = fmt::format("{}", open->waits_for);
  }
  sample.bytes_per_s = static_cast<std::uint64_t>(rate);
}

std::function<void(launch::Sample&)> create_sample_completion() {
  // Shared: functions of the standard library are copied.
  return [recorders = std::make_shared<Recorders>()](launch::Sample& sample) {
    describe(recorders->read(sample.pid), sample);
  };
}

}  // namespace tutti::tool
