#include "os/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>

#include "os/relax.h"

namespace tutti::os {
namespace {

TEST(Thread, RunsItsWorkAndIsJoinedWhenItIsDestroyed) {
  std::atomic<int> runs = 0;
  {
    auto thread = Thread::start("runs", [&] { ++runs; });
    ASSERT_TRUE(thread) << thread.status().text();
  }
  EXPECT_EQ(runs, 1);
}

TEST(Thread, IsJoinedWhenAnotherIsMovedOverIt) {
  std::atomic<int> runs = 0;
  auto first = Thread::start("first", [&] {
    for (int i = 0; i < 1000; ++i) yield_core();
    ++runs;
  });
  ASSERT_TRUE(first);
  *first = Thread();
  EXPECT_EQ(runs, 1);
}

TEST(Thread, HasTheFirstFifteenCharactersOfItsName) {
  std::string name;
  auto thread = Thread::start("a-name-of-many-letters", [&] {
    std::array<char, 32> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    name = text.data();
  });
  ASSERT_TRUE(thread);
  thread->join();
  EXPECT_EQ(name, "a-name-of-many-");
}

TEST(Thread, LeavesSignalsToTheProgramButNotItsOwnFaults) {
  sigset_t mask;
  sigset_t mine_before;
  sigset_t mine_after;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine_before);
  auto thread = Thread::start("signals", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  ASSERT_TRUE(thread);
  thread->join();
  for (const int blocked : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM}) EXPECT_EQ(sigismember(&mask, blocked), 1);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_EQ(sigismember(&mask, fault), 0);
  pthread_sigmask(SIG_SETMASK, nullptr, &mine_after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1})
    EXPECT_EQ(sigismember(&mine_after, signal), sigismember(&mine_before, signal));
}

TEST(Relax, Returns) {
  relax();
  yield_core();
}

}  // namespace
}  // namespace tutti::os
