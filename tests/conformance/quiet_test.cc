// The path of a call that does not have to wait: it allocates nothing, takes no lock and makes no system call.
//
// Allocations are counted by replacing operator new. System calls are forbidden by a seccomp filter in a forked child:
// in strict terms only those that end the process are allowed, and any other ends it with SIGSYS, futex (a contended
// lock) and sched_yield too. An uncontended lock of the C library makes no system call, so pthread_mutex_lock is
// replaced as well and counted. That the instruments see what they should is a test of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>

#include "comm/operation.h"
#include "comm/side.h"
#include "comm/start.h"
#include "os/relax.h"

namespace {

std::size_t allocations = 0;
std::size_t locks = 0;

}  // namespace

// Not inlined: compilers would see malloc meet delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return next(mutex);
}

namespace tutti::conformance {
namespace {

bool forbid_system_calls() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int kFine = 0;
constexpr int kWrong = 1;
constexpr int kNoFilter = 77;

// Prepares, then does the work without system calls in a child. How the child ended: an exit code, or minus a signal.
int without_system_calls(const std::function<std::function<bool()>()>& prepare) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    const auto work = prepare();
    work();  // the first call of a kind decides how it runs
    if (!forbid_system_calls()) ::_exit(kNoFilter);
    const std::size_t allocations_before = allocations;
    const std::size_t locks_before = locks;
    const bool is_fine = work() && work() && allocations == allocations_before && locks == locks_before;
    ::_exit(is_fine ? kFine : kWrong);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<std::unique_ptr<comm::Side>> start(Rank size) {
  auto sides = comm::start_local(size, {});
  if (!sides) std::abort();
  return *std::move(sides);
}

// All ranks on this thread, in turns, as far as each goes.
bool run_in_turns(std::vector<std::unique_ptr<comm::Side>>& sides, std::span<Call> calls) {
  constexpr int kTurnsMax = 100'000;
  std::optional<comm::Operation> operations[4];
  for (std::size_t i = 0; i < sides.size(); ++i) operations[i].emplace(sides[i]->track_of(calls[i]), calls[i]);
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    bool is_done = true;
    for (std::size_t i = 0; i < sides.size(); ++i) is_done = operations[i]->progress() && is_done;
    if (is_done) return operations[0]->status().is_ok();
  }
  return false;
}

class QuietCalls : public testing::TestWithParam<std::uint64_t> {};

TEST_P(QuietCalls, OfOneRankDisturbNobody) {
  const int end = without_system_calls([&] {
    auto communicators = std::make_shared<std::vector<Communicator>>(*Communicator::create_local(1));
    auto data = std::make_shared<std::vector<float>>(GetParam());
    return [communicators, data] { return communicators->front().all_reduce(std::span<float>(*data)).is_ok(); };
  });
  if (end == kNoFilter) GTEST_SKIP() << "the kernel takes no filter here";
  EXPECT_EQ(end, kFine);
}

TEST_P(QuietCalls, OfSeveralRanksThatNeverWaitDisturbNobody) {
  for (const plan::Collective collective : plan::kCollectives) {
    if (collective == plan::Collective::send_receive) continue;
    const int end = without_system_calls([&] {
      auto sides = std::make_shared<std::vector<std::unique_ptr<comm::Side>>>(start(3));
      auto data = std::make_shared<std::vector<std::vector<float>>>(6, std::vector<float>(3 * GetParam()));
      auto calls = std::make_shared<std::vector<Call>>(3);
      for (std::size_t i = 0; i < 3; ++i) {
        (*calls)[i] = {
            .collective = collective, .in = (*data)[i].data(), .out = (*data)[i + 3].data(), .count = GetParam()};
      }
      return [sides, calls, data] { return run_in_turns(*sides, *calls); };
    });
    if (end == kNoFilter) GTEST_SKIP() << "the kernel takes no filter here";
    EXPECT_EQ(end, kFine) << plan::name_of(collective);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, QuietCalls, testing::Values(2, 500, 100'000));

TEST(QuietInstruments, SeeAllocationsLocksAndSystemCalls) {
  const auto end_of = [](bool (*work)()) { return without_system_calls([=] { return [=] { return work(); }; }); };
  const int none = end_of([] { return true; });
  if (none == kNoFilter) GTEST_SKIP() << "the kernel takes no filter here";
  EXPECT_EQ(none, kFine);
  EXPECT_EQ(end_of([] { return ::operator delete(::operator new(8)), true; }), kWrong);
  EXPECT_EQ(end_of([] {
              static std::mutex mutex;
              const std::lock_guard lock(mutex);
              return true;
            }),
            kWrong);
  EXPECT_EQ(end_of([] { return os::yield_core(), true; }), -SIGSYS);
}

}  // namespace
}  // namespace tutti::conformance
