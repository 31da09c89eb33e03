#include "os/process.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "os/remote_memory.h"

namespace tutti::os {
namespace {

// A child that does nothing until it is killed.
pid_t start_child() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // where the test ends without killing it
    while (true) pause();
  }
  return child;
}

TEST(Process, TheNameOfAProgramMayHoldAnything) {
  EXPECT_EQ(parse_state("7 (tutti) R 1 7 7"), ProcessState::running);
  EXPECT_EQ(parse_state("7 (a b) (c) S 1"), ProcessState::sleeping);
  EXPECT_EQ(parse_state("7 () R 1) T 1"), ProcessState::stopped);
  EXPECT_EQ(parse_state("7 ()) Z 1"), ProcessState::zombie);
  EXPECT_EQ(parse_state("7 (x) D 1"), ProcessState::sleeping);
  EXPECT_EQ(parse_state("7 (x) t 1"), ProcessState::stopped);
  EXPECT_EQ(parse_state("7 (x) X 1"), ProcessState::gone);
}

TEST(Process, AnythingElseIsUnknown) {
  for (const char* text : {"", ")", "7 (x)", "7 (x) ", "7 (x)R", "7 (x) ? 1", "7 x R 1"})
    EXPECT_EQ(parse_state(text), ProcessState::unknown) << text;
}

TEST(Process, EveryStateHasAName) {
  for (const auto state : {ProcessState::running, ProcessState::sleeping, ProcessState::stopped, ProcessState::zombie,
                           ProcessState::gone, ProcessState::unknown})
    EXPECT_FALSE(name_of(state).empty());
}

TEST(Process, TheLifeOfAChildIsSeen) {
  EXPECT_EQ(state_of(getpid()), ProcessState::running);
  EXPECT_EQ(state_of(-1), ProcessState::unknown);
  const pid_t child = start_child();
  ASSERT_GT(child, 0);
  int status = 0;
  kill(child, SIGSTOP);
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(state_of(child), ProcessState::stopped);
  kill(child, SIGKILL);
  siginfo_t information{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(state_of(child), ProcessState::zombie);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(state_of(child), ProcessState::gone);
}

TEST(RemoteMemory, AChildsMemoryIsReadWhereTheKernelAllowsIt) {
  std::array<std::byte, 16> word{};
  word.fill(std::byte{7});
  const pid_t child = start_child();
  ASSERT_GT(child, 0);
  // The child has the same memory at the same address; what is written here afterwards it does not see.
  const auto expected = word;
  if (can_read(child, word.data(), expected)) {
    word.fill(std::byte{9});
    std::array<std::byte, 16> got{};
    const Status read = read_memory(child, got.data(), word.data(), got.size());
    EXPECT_TRUE(read) << read.text();
    EXPECT_EQ(got, expected);
    EXPECT_FALSE(can_read(child, word.data(), word)) << "the content differs";
    EXPECT_FALSE(can_write(child, word.data(), word)) << "nothing is written where the content differs";
    if (can_write(child, word.data(), expected)) {
      const Status written = write_memory(child, word.data(), word.data(), word.size());
      EXPECT_TRUE(written) << written.text();
      EXPECT_TRUE(can_read(child, word.data(), word));
    }
  }
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  const Status gone = read_memory(child, word.data(), word.data(), word.size());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.text().find("process " + std::to_string(child)), std::string_view::npos) << gone.text();
}

TEST(RemoteMemory, APartOfWhatWasAskedIsAFailure) {
  constexpr std::size_t kPage = 4096;
  // Two pages, of which the second cannot be read.
  void* const pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<std::byte*>(pages) + kPage, kPage, PROT_NONE), 0);
  std::array<std::byte, 2 * kPage> got{};
  EXPECT_FALSE(read_memory(getpid(), got.data(), pages, got.size()));
  EXPECT_FALSE(write_memory(getpid(), pages, got.data(), got.size()));
  munmap(pages, 2 * kPage);
}

}  // namespace
}  // namespace tutti::os
