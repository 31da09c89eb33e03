#include "os/halted_thread.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <new>

#include "os/clock.h"
#include "os/process.h"

namespace tutti::os {
namespace {

using std::chrono::milliseconds;

// A child that counts in memory that both see, with a mark on its stack.
class Counting {
 public:
  static constexpr std::uint64_t kMark = 0x7475747469212121;

  Counting() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) std::abort();
    count_ = new (page) std::atomic<std::uint64_t>(0);
    child_ = fork();
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    volatile std::uint64_t mark[2] = {kMark, kMark};
    while (mark[0] == kMark) count_->fetch_add(1);
    _exit(0);
  }
  Counting(const Counting&) = delete;
  ~Counting() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(count_, 4096);
  }
  pid_t pid() const { return child_; }
  std::uint64_t count() const { return count_->load(); }
  bool counts_on() const {
    const std::uint64_t before = count_->load();
    const Deadline deadline = Deadline::after(now(), std::chrono::seconds(30));
    while (count_->load() == before) {
      if (deadline.has_passed(now())) return false;
    }
    return true;
  }

 private:
  std::atomic<std::uint64_t>* count_ = nullptr;
  pid_t child_ = 0;
};

bool is_forbidden(const Result<HaltedThread>& copy) { return !copy && copy.status().code() == Code::unsupported; }

TEST(HaltedThread, IsCopiedWithItsStackAndGoesOn) {
  const Counting child;
  ASSERT_TRUE(child.counts_on());
  for (int round = 0; round < 20; ++round) {
    const auto copy = copy_thread(child.pid(), milliseconds(2000));
    if (is_forbidden(copy)) GTEST_SKIP() << copy.status().text();
    ASSERT_TRUE(copy) << copy.status().text();
    EXPECT_NE(copy->program_counter, 0u);
    const std::uint64_t mark = Counting::kMark;
    const auto* bytes = reinterpret_cast<const std::byte*>(&mark);
    const auto found = std::search(copy->stack.begin(), copy->stack.end(), bytes, bytes + sizeof(mark));
    EXPECT_NE(found, copy->stack.end());
    ASSERT_TRUE(child.counts_on());
  }
}

TEST(HaltedThread, ThatWasStoppedStaysStopped) {
  const Counting child;
  ASSERT_TRUE(child.counts_on());
  kill(child.pid(), SIGSTOP);
  siginfo_t change{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &change, WSTOPPED | WNOWAIT), 0);
  const std::uint64_t counted = child.count();
  const auto copy = copy_thread(child.pid(), milliseconds(2000));
  if (is_forbidden(copy)) GTEST_SKIP() << copy.status().text();
  // The kernel wakes it and lets it stop again without running a step of it.
  const Deadline deadline = Deadline::after(now(), std::chrono::seconds(30));
  while (state_of(child.pid()) != ProcessState::stopped && !deadline.has_passed(now())) {
  }
  EXPECT_EQ(state_of(child.pid()), ProcessState::stopped);
  EXPECT_EQ(child.count(), counted);
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(child.counts_on());
}

TEST(HaltedThread, ThatDoesNotExistIsNamed) {
  const auto copy = copy_thread(99'999'999, milliseconds(100));
  ASSERT_FALSE(copy);
  EXPECT_TRUE(copy.status().text().starts_with("cannot trace process 99999999: ")) << copy.status().text();
}

}  // namespace
}  // namespace tutti::os
