#include "launch/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "os/clock.h"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;

TEST(SignalWatch, TellsOfSignalsInsteadOfLettingThemEndTheProcess) {
  auto loop = os::EventLoop::create();
  ASSERT_TRUE(loop);
  std::vector<int> seen;
  auto watch = SignalWatch::create(**loop, {SIGUSR1, SIGTERM}, [&](int signal) { seen.push_back(signal); });
  ASSERT_TRUE(watch) << watch.status().text();
  ::kill(::getpid(), SIGTERM);
  ::kill(::getpid(), SIGUSR1);
  EXPECT_TRUE((*loop)->run_until([&] { return seen.size() == 2; }, Deadline::after(os::now(), 10s)));
  sigset_t blocked;
  watch->reset();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
}

TEST(SignalWatch, LeavesIgnoredSignalsIgnored) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignore, &before);
  auto loop = os::EventLoop::create();
  ASSERT_TRUE(loop);
  std::vector<int> seen;
  auto watch = SignalWatch::create(**loop, {SIGHUP, SIGUSR1}, [&](int signal) { seen.push_back(signal); });
  ASSERT_TRUE(watch);
  ::kill(::getpid(), SIGHUP);
  ::kill(::getpid(), SIGUSR1);
  EXPECT_TRUE((*loop)->run_until([&] { return !seen.empty(); }, Deadline::after(os::now(), 10s)));
  EXPECT_EQ(seen, std::vector{SIGUSR1});
  ::sigaction(SIGHUP, &before, nullptr);
}

TEST(IgnoredSignals, MakeWritesFailInsteadOfEndingTheProcess) {
  const IgnoredSignals ignored;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tutti::launch
