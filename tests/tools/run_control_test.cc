// A job that `tutti run` really runs, seen and ended from outside.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "os/clock.h"
#include "os/process.h"
#include "tests/tools/answer.h"

namespace tutti {
namespace {

constexpr std::chrono::seconds kPatience{60};

template <class Condition>
bool comes_true(Condition condition) {
  const Deadline deadline = Deadline::after(os::now(), kPatience);
  while (!condition()) {
    if (deadline.has_passed(os::now())) return false;
    ::usleep(2000);
  }
  return true;
}

class RunControl : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  }
  void TearDown() override {
    if (launcher > 0) ::kill(launcher, SIGTERM);
    if (launcher > 0) ::waitpid(launcher, nullptr, 0);
    std::filesystem::remove_all(directory);
  }

  void start(std::vector<std::string> words) {
    words.insert(words.begin(), {TUTTI_COMMAND, "run"});
    std::vector<char*> arguments;
    for (std::string& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    launcher = ::fork();
    ASSERT_GE(launcher, 0);
    if (launcher > 0) return;
    const std::string output = directory + "/output";
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  // The job that this launcher runs; null: it is not there.
  nlohmann::json job() const {
    const auto jobs = nlohmann::json::parse(tutti("ps --json").text, nullptr, false);
    for (const auto& each : jobs) {
      if (each.is_object() && each["pid"] == launcher) return each;
    }
    return nullptr;
  }
  // Until all ranks run.
  nlohmann::json running_job() const {
    nlohmann::json found;
    EXPECT_TRUE(comes_true([&] {
      found = job();
      if (found.is_null() || found["ranks"].empty()) return false;
      for (const auto& rank : found["ranks"]) {
        if (rank["state"] != "running") return false;
      }
      return true;
    }));
    return found;
  }

  std::string directory;
  pid_t launcher = 0;
};

TEST_F(RunControl, AJobIsSeenWatchedAndEndedWithNothingLeft) {
  start({"-np", "2", "sleep", "600"});
  const auto found = running_job();
  ASSERT_TRUE(found.is_object());
  EXPECT_EQ(found["command"], nlohmann::json({"sleep", "600"}));
  ASSERT_EQ(found["ranks"].size(), 2u);
  const std::string name = found["name"];

  const Answer once = tutti("top --once " + name);
  EXPECT_EQ(once.exit_code, 0) << once.text;
  EXPECT_TRUE(contains(once.text, "2 of 2 ranks alive")) << once.text;
  for (const auto& rank : found["ranks"]) EXPECT_TRUE(contains(once.text, rank["pid"].dump())) << once.text;

  const Answer killed = tutti("kill " + name);
  EXPECT_EQ(killed.exit_code, 0) << killed.text;
  EXPECT_EQ(killed.text, "job '" + name + "' is gone\n");
  int status = 0;
  ASSERT_EQ(::waitpid(launcher, &status, 0), launcher);
  launcher = 0;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  for (const auto& rank : found["ranks"]) {
    EXPECT_EQ(os::state_of(rank["pid"].get<pid_t>()), os::ProcessState::gone);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory + "/tutti"));
}

TEST_F(RunControl, TopFindsTheRecorderOfAProgramBelowAShell) {
  // A demo has ranks of its own; what counts is that their recorders lie two processes below the rank.
  const std::string demo = std::string(TUTTI_COMMAND) + " demo --ranks 2 --bytes-max 16M";
  start({"-np", "1", "sh", "-c", "while :; do " + demo + " > /dev/null; done"});
  const std::string name = running_job()["name"];
  std::string call;
  EXPECT_TRUE(comes_true([&] {
    const auto json = nlohmann::json::parse(tutti("top --json " + name).text, nullptr, false);
    if (!json.is_object() || !json["ranks"][0].contains("sample")) return false;
    call = json["ranks"][0]["sample"]["call"];
    return !call.empty();
  }));
  EXPECT_TRUE(contains(call, "all_reduce") || contains(call, "barrier")) << call;
  EXPECT_EQ(tutti("kill --now " + name).exit_code, 0);
}

}  // namespace
}  // namespace tutti
