#include "nccl/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "comm/start.h"
#include "device/host/devices.h"
#include "device/host/executor.h"
#include "device/host/recording.h"
#include "nccl/estimate.h"
#include "nccl/result.h"
#include "os/thread.h"

namespace tutti::nccl {
namespace {

// Of one thread.
struct Group {
  int depth = 0;
  std::vector<Enqueued> calls;
  std::vector<Making> makings;
  Status failure;  // the first of a call inside: nothing of the group is done then
};
thread_local Group group;
constexpr std::size_t kCallsOfMostGroups = 16;

// Whether work on one stream waits for work on the other: the default stream of a device does for its blocking ones.
bool are_ordered(const device::HostStream& one, const device::HostStream& other) {
  using Kind = device::HostStream::Kind;
  if (&one == &other) return true;
  if (one.device() != other.device() || one.kind() == Kind::non_blocking || other.kind() == Kind::non_blocking)
    return false;
  return one.kind() == Kind::legacy || other.kind() == Kind::legacy;
}

// Calls that share a stream or a communicator begin and end together, since each may wait for the other; those that
// share nothing do not.
std::vector<std::vector<Enqueued>> components_of(std::vector<Enqueued> calls) {
  std::vector<std::vector<Enqueued>> components;
  for (Enqueued& call : calls) {
    std::vector<Enqueued> joined;
    const auto touches = [&](const std::vector<Enqueued>& component) {
      return std::ranges::any_of(component, [&](const Enqueued& other) {
        return other.comm == call.comm || are_ordered(*other.stream, *call.stream);
      });
    };
    for (auto component = components.begin(); component != components.end();) {
      if (!touches(*component)) {
        ++component;
        continue;
      }
      std::ranges::move(*component, std::back_inserter(joined));
      component = components.erase(component);
    }
    joined.push_back(std::move(call));
    components.push_back(std::move(joined));
  }
  return components;
}

comm::Submission submission_of(const std::vector<Enqueued>& calls) {
  comm::Submission submission;
  std::vector<CommRef> comms;
  for (const Enqueued& call : calls) {
    submission.calls.push_back({call.comm->side, call.call, call.factor, call.keeps});
    for (auto& stream : device::Devices::of_process().order_of(call.stream))
      if (std::ranges::find(submission.streams, stream) == submission.streams.end())
        submission.streams.push_back(std::move(stream));
    if (std::ranges::find(comms, call.comm) == comms.end()) comms.push_back(call.comm);
  }
  for (const CommRef& comm : comms) comm->submitted.fetch_add(1, std::memory_order_relaxed);
  submission.on_end = [comms = std::move(comms), streams = submission.streams](const Status& status) {
    for (const CommRef& comm : comms) comm->ended(status, *streams.front());
    if (status || status.code() == Code::aborted) return;
    for (const auto& stream : streams) stream->fail(status);
  };
  return submission;
}

// What is captured is for later: true where it is.
Result<bool> record(const std::vector<Enqueued>& calls) {
  std::shared_ptr<device::Recording> recording;
  std::size_t captured = 0;
  for (const Enqueued& call : calls) {
    const auto own = call.stream->recording();
    if (own == nullptr) continue;
    ++captured;
    if (recording == nullptr) recording = own;
  }
  if (captured == 0) return false;
  if (captured < calls.size())
    return Status(Code::invalid_usage,
                  "some calls of the group are on streams that are captured and some are not; capture all or none");
  recording->add([calls] { return comm::task_of(submission_of(calls)); });
  return true;
}

// Whether nothing has to be known of a call but itself.
bool is_plain(const device::HostStream& stream, const Call& call) {
  return stream.kind() != device::HostStream::Kind::legacy && stream.recording() == nullptr &&
         !comm::Side::is_nothing(call);
}

bool is_plain(const Enqueued& call) {
  return is_plain(*call.stream, call.call) && !call.factor && call.keeps == nullptr;
}

std::shared_ptr<device::Task> task_of(CommRef comm, const Call& call, device::HostStream& stream) {
  comm->submitted.fetch_add(1, std::memory_order_relaxed);
  comm::Side& side = *comm->side;
  return comm::task_of(side, call, stream, std::move(comm));
}

// The common case: one call of each device. None shares anything with another.
bool are_apart(const std::vector<Enqueued>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!is_plain(calls[i])) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (calls[i].stream == calls[j].stream || calls[i].comm == calls[j].comm) return false;
  }
  return true;
}

Status launch(std::vector<Enqueued> calls) {
  if (are_apart(calls)) {
    std::vector<std::shared_ptr<device::Task>> tasks;
    tasks.reserve(calls.size());
    auto& executor = device::Executor::of_process();
    for (auto& [comm, stream, call, factor, keeps] : calls)
      executor.place(tasks.emplace_back(task_of(std::move(comm), call, *stream)), std::move(stream));
    executor.begin_all(tasks);
    return {};
  }
  std::vector<comm::Submission> submissions;
  for (const auto& component : components_of(std::move(calls))) {
    TUTTI_ASSIGN(const bool is_captured, record(component));
    if (!is_captured) submissions.push_back(submission_of(component));
  }
  comm::submit_all(std::move(submissions));
  return {};
}

void end_making(const Making& making, const Status& status) {
  if (!status) making.comm->fail(status);
  making.comm->state.store(status ? ncclComm::State::ready : ncclComm::State::failed, std::memory_order_release);
  if (making.parent != nullptr) making.parent->makings.fetch_sub(1, std::memory_order_release);
}

void make_one(const Making& making) {
  auto side = making.make();
  if (side) making.comm->side = *std::move(side);
  end_making(making, side.status());
}

// All ranks of a communicator are here: they need not look for each other.
bool make_locally(const std::vector<Making>& makings) {
  std::map<int, const Making*> by_rank;
  for (const Making& making : makings) by_rank.emplace(making.comm->rank, &making);
  const int size = makings[0].comm->size;
  const bool is_complete = static_cast<int>(by_rank.size()) == size && by_rank.begin()->first == 0 &&
                           by_rank.rbegin()->first == size - 1 && makings.size() == by_rank.size();
  if (!is_complete) return false;
  auto sides = comm::start_local(size, makings[0].options);
  for (const auto& [rank, making] : by_rank) {
    Making local = *making;
    local.make = [&, at = static_cast<std::size_t>(rank)]() -> Result<std::shared_ptr<comm::Side>> {
      if (!sides) return sides.status();
      return std::shared_ptr<comm::Side>(std::move((*sides)[at]));
    };
    make_one(local);
  }
  comm::forget_meeting(*makings[0].identifier);
  return true;
}

// Each on a thread of its own, since all wait for the others.
void make_all(const std::vector<Making>& makings) {
  std::map<std::string, std::vector<Making>> starts;
  std::vector<Making> rest;
  for (const Making& making : makings) {
    if (making.identifier)
      starts[making.identifier->text()].push_back(making);
    else
      rest.push_back(making);
  }
  for (const auto& [identifier, same] : starts)
    if (!make_locally(same)) rest.insert(rest.end(), same.begin(), same.end());
  if (rest.size() == 1) return make_one(rest[0]);
  std::vector<os::Thread> threads;
  for (const Making& making : rest) {
    auto thread = os::Thread::start("tutti-nccl", [&making] { make_one(making); });
    if (thread) {
      threads.push_back(std::move(*thread));
      continue;
    }
    end_making(making, thread.status());
  }
}

// Threads that make communicators for programs that do not wait for them. A mutex because any thread may begin one.
class Background {
 public:
  static Background& of_process() {
    // Never destroyed: whoever still waits for other ranks when the process ends need not be waited for.
    static Background& background = [&]() -> Background& {
      std::atexit([] { of_process().reap(); });
      return *new Background;
    }();
    return background;
  }
  Status run(std::function<void()> work) {
    reap();
    const std::lock_guard lock(mutex_);
    auto is_over = std::make_shared<std::atomic<bool>>(false);
    TUTTI_ASSIGN(auto thread, os::Thread::start("tutti-nccl", [work = std::move(work), is_over] {
                   work();
                   is_over->store(true, std::memory_order_release);
                 }));
    threads_.push_back({std::move(thread), std::move(is_over)});
    return {};
  }
  // Those that are done.
  void reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, [](const Running& running) { return running.is_over->load(std::memory_order_acquire); });
  }

 private:
  struct Running {
    os::Thread thread;
    std::shared_ptr<std::atomic<bool>> is_over;  // shared with the thread
  };
  std::mutex mutex_;
  std::vector<Running> threads_;
};

ncclResult_t make(std::vector<Making> makings) {
  if (makings.empty()) return ncclSuccess;
  const bool is_blocking =
      std::ranges::any_of(makings, [](const Making& making) { return making.comm->config.is_blocking; });
  if (!is_blocking) {
    const Status status = Background::of_process().run([makings] { make_all(makings); });
    return status ? ncclInProgress : refuse("ncclCommInit", status);
  }
  make_all(makings);
  for (const Making& making : makings)
    if (making.comm->state.load(std::memory_order_acquire) == ncclComm::State::failed)
      return refuse(making.identifier ? "ncclCommInitRank" : "ncclCommSplit", making.comm->first_failure());
  return ncclSuccess;
}

}  // namespace

Status enqueue(CommRef comm, std::shared_ptr<device::HostStream> stream, const Call& call) {
  if (group.depth > 0 || !is_plain(*stream, call))
    return enqueue({.comm = std::move(comm), .stream = std::move(stream), .call = call});
  auto task = task_of(std::move(comm), call, *stream);
  device::Executor::of_process().submit(std::move(task), std::move(stream));
  return {};
}

Status enqueue(Enqueued enqueued) {
  if (group.depth > 0) {
    if (group.calls.empty()) group.calls.reserve(kCallsOfMostGroups);
    group.calls.push_back(std::move(enqueued));
    return {};
  }
  std::vector<Enqueued> one;
  one.push_back(std::move(enqueued));
  return launch(std::move(one));
}

void reap_makings() { Background::of_process().reap(); }

void spoil_group(const Status& why) {
  if (group.depth > 0 && group.failure) group.failure = why;
}

ncclResult_t begin(Making making) {
  if (making.parent != nullptr) making.parent->makings.fetch_add(1, std::memory_order_relaxed);
  if (group.depth > 0) {
    group.makings.push_back(std::move(making));
    return ncclSuccess;
  }
  return make({std::move(making)});
}

}  // namespace tutti::nccl

using tutti::Status;
using tutti::nccl::answer;
using tutti::nccl::group;

TUTTI_NCCL_DEFINE(GroupStart, ()) {
  ++group.depth;
  return ncclSuccess;
}

TUTTI_NCCL_DEFINE(GroupEnd, ()) {
  using namespace tutti::nccl;
  if (group.depth == 0)
    return refuse("ncclGroupEnd",
                  Status(tutti::Code::invalid_usage, "there is no group to end; call ncclGroupStart first"));
  if (--group.depth > 0) return ncclSuccess;
  Group ended = std::exchange(group, {});
  if (!ended.failure) {
    for (const Making& making : ended.makings) end_making(making, ended.failure);
    return refuse("ncclGroupEnd", ended.failure);
  }
  const ncclResult_t made = make(std::move(ended.makings));
  if (made != ncclSuccess && made != ncclInProgress) return made;
  if (ended.calls.empty()) return made;
  return answer("ncclGroupEnd", [&]() -> Status { return launch(std::move(ended.calls)); });
}

TUTTI_NCCL_DEFINE(GroupSimulateEnd, (ncclSimInfo_t * info)) {
  using namespace tutti::nccl;
  return answer("ncclGroupSimulateEnd", [&]() -> Status {
    if (group.depth == 0) return {tutti::Code::invalid_usage, "there is no group to end; call ncclGroupStart first"};
    if (--group.depth > 0) return {};
    const Group ended = std::exchange(group, {});
    if (info == nullptr) return {};
    TUTTI_TRY(validate_sim_info(*info));
    info->estimatedTime = static_cast<float>(estimate_us(ended.calls));
    return {};
  });
}

extern "C" ncclResult_t tuttiNcclGroupExplainEnd(const char** text) {
  using namespace tutti::nccl;
  return answer("tuttiNcclGroupExplainEnd", [&]() -> Status {
    if (group.depth == 0) return {tutti::Code::invalid_usage, "there is no group to end; call ncclGroupStart first"};
    if (text == nullptr) return tutti::invalid_argument("the place for the text is NULL");
    if (--group.depth > 0) return {};
    const Group ended = std::exchange(group, {});
    thread_local std::string kept;
    kept = explain(ended.calls);
    *text = kept.c_str();
    return {};
  });
}
