// Elastic jobs as users start them, with ranks that form a communicator for every world.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <thread>

#include "base/text.h"
#include "os/clock.h"
#include "tests/network/lab/folder.h"
#include "tests/network/lab/process.h"

namespace tutti::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 90s;
constexpr auto kLook = 20ms;  // between looks at the output; what is decided is decided by the output

std::string program(const std::string& name) { return std::string(TUTTI_PROGRAMS) + "/" + name; }

std::vector<std::string> words_of(std::vector<std::string> options, const std::string& steps) {
  std::vector<std::string> words = {program("tutti"), "run", "--tag", "none"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {program("elastic_rank"), steps});
  return words;
}

// The first match of the pattern in what the job has written; waits for it.
std::optional<std::smatch> await(const Process& job, const std::string& pattern, std::string& output) {
  const std::regex expression(pattern);
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  while (!deadline.has_passed(os::now())) {
    output = job.output();
    std::smatch match;
    if (std::regex_search(output, match, expression)) return match;
    std::this_thread::sleep_for(kLook);
  }
  return std::nullopt;
}

void kill_rank(const Process& job, const std::string& rank_line) {
  std::string output;
  const auto line = await(job, rank_line + " at step [0-9]+, pid ([0-9]+)", output);
  ASSERT_TRUE(line) << output;
  const auto pid = text::integer_of<pid_t>(line->str(1));
  ASSERT_TRUE(pid && *pid > 1);
  ::kill(*pid, SIGKILL);
}

// What a discovery script prints, replaced as a whole.
void write_hosts(const std::string& path, const std::string& text) {
  std::ofstream(path + ".new") << text;
  ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
}

TEST(ElasticRun, AKilledRankIsReplacedAndTheOthersGoOn) {
  auto job =
      Process::start(kThisMachine, {.words = words_of({"--min-np", "2", "--max-np", "3", "-H", "localhost:3"}, "250")});
  ASSERT_TRUE(job) << job.status().text();
  kill_rank(*job, "world 0: rank 1 of 3");
  const auto code = job->wait(kLimit);
  const std::string output = job->output();
  ASSERT_EQ(code, 0) << output;
  EXPECT_TRUE(std::regex_search(output, std::regex("world 1: rank 0 of 3 at step [1-9]"))) << output;
  EXPECT_TRUE(std::regex_search(output, std::regex("world 1: rank 2 of 3 at step [1-9]"))) << output;
  EXPECT_NE(output.find("has failed: signal 9"), std::string::npos) << output;
}

TEST(ElasticRun, AWorldGrowsWithItsHosts) {
  const auto folder = Folder::create();
  ASSERT_TRUE(folder) << folder.status().text();
  const std::string list = folder->file("hosts");
  write_hosts(list, "localhost:1\n");
  auto job = Process::start(
      kThisMachine,
      {.words = words_of({"--min-np", "1", "--max-np", "4", "--host-discovery-script", "cat " + list}, "800")});
  ASSERT_TRUE(job) << job.status().text();
  std::string output;
  ASSERT_TRUE(await(*job, "world 0: rank 0 of 1", output)) << output;
  write_hosts(list, "localhost:2\n127.0.0.1\n");
  const auto code = job->wait(kLimit);
  output = job->output();
  ASSERT_EQ(code, 0) << output;
  EXPECT_TRUE(std::regex_search(output, std::regex("world 1: rank 2 of 3 at step [1-9]"))) << output;
}

TEST(ElasticRun, TooFewForTooLongIsGivenUpWithNumbers) {
  const auto folder = Folder::create();
  ASSERT_TRUE(folder) << folder.status().text();
  const std::string list = folder->file("hosts");
  const std::string runs = folder->file("runs");
  const std::string script = "echo x >> " + runs + "; cat " + list;
  write_hosts(list, "localhost:2\n");
  auto job = Process::start(
      kThisMachine,
      {.words = words_of({"--min-np", "2", "--elastic-timeout", "2", "--host-discovery-script", script}, "100000")});
  ASSERT_TRUE(job) << job.status().text();
  std::string output;
  ASSERT_TRUE(await(*job, "world 0: rank 1 of 2", output)) << output;
  write_hosts(list, "localhost:1\n");
  // Of two runs that begin from now on, the first reads the new list and has ended before the second begins.
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  const std::size_t bytes = read_file(runs).size();
  while (read_file(runs).size() < bytes + 4 && !deadline.has_passed(os::now())) std::this_thread::sleep_for(kLook);
  kill_rank(*job, "world 0: rank 1 of 2");
  const auto code = job->wait(kLimit);
  output = job->output();
  EXPECT_EQ(code, 128 + SIGKILL) << output;
  EXPECT_NE(output.find("the job needs 2 ranks at least (--min-np) and can have 1"), std::string::npos) << output;
}

TEST(ElasticRun, AProgramThatIsNotThereEndsTheJob) {
  auto job = Process::start(kThisMachine,
                            {.words = {program("tutti"), "run", "--min-np", "1", "-H", "localhost:1", "/no/program"}});
  ASSERT_TRUE(job) << job.status().text();
  EXPECT_EQ(job->wait(kLimit), 127) << job->output();
  EXPECT_NE(job->output().find("/no/program"), std::string::npos) << job->output();
}

}  // namespace
}  // namespace tutti::lab
