// Jobs of `tutti run` on this machine, of which nothing may be left when a test is over.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "tests/launch/running.h"

namespace tutti::programs {

class RunHere : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = lab::Folder::create();
    ASSERT_TRUE(folder) << folder.status().text();
    folder_.emplace(*std::move(folder));
    mark_ = fmt::format("{}-{}", ::getpid(), folder_->path());
  }
  // Whatever a test says of its job: that is gone.
  void TearDown() override {
    EXPECT_TRUE(is_all_gone(lab::kGrace)) << "these are left:\n" << described(left());
    for (const pid_t pid : left()) ::kill(pid, SIGKILL);
  }

  const lab::Folder& folder() const { return *folder_; }
  std::string noting_pid() const { return "pid=" + folder_->path(); }
  std::string noting_child() const { return "child=" + folder_->path(); }

  // All processes of the job have the mark: those that Tutti starts inherit it, and ranks are given it.
  Environment environment() const { return {{"LAUNCH_TEST_MARK", mark_}}; }
  Ending run_program(const Words& words) const {
    return lab::launch(words, {.environment = environment(), .folder = folder_->path()});
  }
  Ending run(const Words& options, const Words& actions) const { return run_program(run_words(options, actions)); }
  // What it says, without tags and in order, where it goes well.
  std::vector<std::string> lines_of(Words options, const Words& actions) const {
    options.insert(options.begin(), {"--tag", "none"});
    const Ending ending = run(options, actions);
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    return sorted_lines(ending.output);
  }
  Result<lab::Process> start(const Words& options, const Words& actions) const {
    return lab::Process::start(
        lab::kThisMachine,
        {.words = run_words(options, actions), .environment = environment(), .input = "", .folder = folder_->path()});
  }

  std::vector<pid_t> left() const { return processes_with("LAUNCH_TEST_MARK=" + mark_); }
  bool is_all_gone(std::chrono::nanoseconds limit) const {
    return comes_true([&] { return left().empty(); }, limit);
  }
  // The agent and its guard, the older first.
  std::vector<pid_t> agents() const {
    std::vector<pid_t> found = left();
    std::erase_if(found, [](pid_t pid) { return command_line(pid).find("tutti agent ") == std::string::npos; });
    return found;
  }

 private:
  std::optional<lab::Folder> folder_;
  std::string mark_;
};

}  // namespace tutti::programs
