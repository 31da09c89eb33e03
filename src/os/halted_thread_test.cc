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
#include <memory>
#include <new>
#include <string>

#include "os/clock.h"
#include "os/process.h"
#include "os/relax.h"
#include "os/thread.h"

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

// The main thread of a child that has the mark on its stack and looks at itself from another thread; what it answers.
std::string look_at_oneself() {
  volatile std::uint64_t mark[2] = {Counting::kMark, Counting::kMark};
  std::atomic<std::uint64_t> count{0};
  std::string answer;
  std::atomic<bool> is_done{false};
  const auto looking = Thread::start("looking", [&] {
    for (int round = 0; round < 20 && answer.empty(); ++round) {
      const auto copy = copy_main_thread(milliseconds(2000));
      const std::uint64_t counted = count.load();
      const Deadline deadline = Deadline::after(now(), std::chrono::seconds(30));
      while (count.load() == counted && !deadline.has_passed(now())) yield_core();
      if (count.load() == counted) answer = "it does not go on";
      if (!copy) answer = copy.status().text();
      if (!copy) continue;
      const std::uint64_t wanted = Counting::kMark;
      const auto* bytes = reinterpret_cast<const std::byte*>(&wanted);
      if (std::search(copy->stack.begin(), copy->stack.end(), bytes, bytes + sizeof(wanted)) == copy->stack.end()) {
        answer = "the mark is not on the stack";
      }
    }
    is_done = true;
  });
  // It allocates all the time: who looks must not wait for a lock that it holds.
  while (!is_done && mark[0] == Counting::kMark) count += std::make_unique<std::string>(100, 'x')->size();
  if (waitpid(-1, nullptr, 0) != -1 || errno != ECHILD) answer += "; the program sees a child";
  return answer;
}

TEST(HaltedThread, CanBeTheMainThreadOfTheProcessItself) {
#if defined(TUTTI_HAS_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer cannot follow a process that shares memory with its parent";
#endif
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {  // so that the thread that runs the test is the main one
    const std::string answer = look_at_oneself();
    [[maybe_unused]] const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(0);
  }
  close(ends[1]);
  std::string answer(1000, ' ');
  const ssize_t bytes = read(ends[0], answer.data(), answer.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  answer.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  if (answer.starts_with("cannot trace")) GTEST_SKIP() << answer;
  EXPECT_EQ(answer, "");
}

TEST(HaltedThread, ThatDoesNotExistIsNamed) {
  const auto copy = copy_thread(99'999'999, milliseconds(100));
  ASSERT_FALSE(copy);
  EXPECT_TRUE(copy.status().text().starts_with("cannot trace process 99999999: ")) << copy.status().text();
}

}  // namespace
}  // namespace tutti::os
