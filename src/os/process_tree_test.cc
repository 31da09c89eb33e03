#include "os/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "os/child_process.h"
#include "os/clock.h"
#include "os/core_file.h"

namespace tutti::os {
namespace {

Deadline soon() { return Deadline::after(now(), std::chrono::seconds(30)); }

ProcessFacts process(pid_t pid, pid_t parent) { return {.pid = pid, .parent = parent, .cpu_ticks = 100}; }

TEST(ProcessTree, ReadsWhatTheKernelWrites) {
  const auto facts = parse_process(
      "42 (a b) (c) S 7 40 40 0 -1 4194304 100 0 0 0 30 12 0 0 20 0 1 0 98765 1000000 250 18446744073709551615 1 1 0");
  ASSERT_TRUE(facts);
  EXPECT_EQ(*facts, (ProcessFacts{.pid = 42,
                                  .parent = 7,
                                  .group = 40,
                                  .state = ProcessState::sleeping,
                                  .start_ticks = 98765,
                                  .cpu_ticks = 42,
                                  .resident_pages = 250}));
  for (const char* text : {"", "42", "42 (x) S 7", "x (y) S 7 40 40 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 1 2"})
    EXPECT_FALSE(parse_process(text)) << text;
}

TEST(ProcessTree, DescendantsComeAfterTheirParents) {
  const ProcessTree tree({process(5, 4), process(4, 2), process(3, 1), process(2, 1), process(9, 8)});
  std::vector<pid_t> found;
  for (const ProcessFacts& facts : tree.descendants_of(2)) found.push_back(facts.pid);
  EXPECT_EQ(found, (std::vector<pid_t>{4, 5}));
  EXPECT_EQ(tree.descendants_of(1).size(), 4U);
  EXPECT_EQ(tree.descendants_of(1, std::vector<pid_t>{4}).size(), 2U) << "without 4 and what descends from it";
  EXPECT_EQ(tree.find(5), process(5, 4));
  EXPECT_FALSE(tree.find(6));
}

TEST(ProcessTree, FactsThatContradictEachOtherEnd) {
  EXPECT_EQ(ProcessTree({process(2, 3), process(3, 2), process(2, 2)}).descendants_of(2).size(), 1U);
}

TEST(ProcessTree, SumsWhatATreeUses) {
  const ProcessTree tree({process(2, 1), process(3, 2), process(4, 1)});
  EXPECT_DOUBLE_EQ(tree.use_of(2).cpu_s, 200.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_GT(ProcessTree::read().use_of(::getpid()).resident_bytes, 0U);
}

TEST(ProcessTree, ASignalNeverHitsAnotherProcessOfTheSameNumber) {
  auto child = ChildProcess::start({.words = {"/bin/sleep", "60"}, .environment = {}});
  ASSERT_TRUE(child) << child.status().text();
  const auto found = ProcessTree::read().find(child->pid());
  ASSERT_TRUE(found);
  ProcessFacts other = *found;
  other.start_ticks -= 1;
  send_signal(other, SIGKILL);
  EXPECT_FALSE(child->try_wait());
  EXPECT_NE(state_of(child->pid()), ProcessState::zombie);
  send_signal(*found, SIGTERM);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(child->try_wait()->signal, SIGTERM);
}

// In a process of its own, since all of its descendants are killed.
TEST(ProcessTree, NothingEscapesFromItsEndNotEvenInOtherSessions) {
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::alarm(60);
    bool is_good = adopt_orphans().is_ok();
    const char* const script =
        "trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM; sleep 61 & sleep 62' &) ; setsid sleep 63 & sleep 64";
    auto child = ChildProcess::start({.words = {"sh", "-c", script}, .environment = {}});
    is_good = is_good && child.is_ok();
    const Deadline deadline = soon();
    while (ProcessTree::read().descendants_of(::getpid()).size() < 5 && !deadline.has_passed(now())) ::usleep(1000);
    is_good = is_good && kill_descendants(deadline) && ProcessTree::read().descendants_of(::getpid()).empty();
    ::_exit(is_good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(keeper, &status, 0), keeper);
  EXPECT_EQ(status, 0);
}

TEST(CoreFile, FollowsThePatternOfTheKernel) {
  const Crash crash{.pid = 7, .program = "/usr/bin/python3", .folder = "/home/me", .signal = 11, .host = "gpu1"};
  EXPECT_EQ(core_file_text("core", false, crash), "/home/me/core");
  EXPECT_EQ(core_file_text("core", true, crash), "/home/me/core.7");
  EXPECT_EQ(core_file_text("/cores/%e.%p.%s.%h.%t%%", true, crash), "/cores/python3.7.11.gpu1.*%");
  EXPECT_EQ(core_file_text("/c/%E", false, crash), "/c/!usr!bin!python3");
  EXPECT_EQ(core_file_text("|/usr/lib/systemd/systemd-coredump %P %u", false, crash),
            "given to /usr/lib/systemd/systemd-coredump");
  EXPECT_EQ(core_file_text("", false, crash), "");
  EXPECT_EQ(core_file_text("core%", false, crash), "/home/me/core");
  EXPECT_EQ(core_file_text("|", false, crash), "");
}

}  // namespace
}  // namespace tutti::os
