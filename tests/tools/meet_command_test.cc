// Runs `tutti meet` as a launcher would, and ranks that meet there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/answer.h"
#include "tutti/communicator.h"

namespace tutti {
namespace {

constexpr unsigned kPatienceSeconds = 60;

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool comes_true(const std::function<bool()>& predicate) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class Meet : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    identifier = directory + "/job.id";
    output = directory + "/output";
  }
  void TearDown() override {
    if (command > 0) ::kill(command, SIGKILL);
    if (command > 0) ::waitpid(command, nullptr, 0);
    std::filesystem::remove_all(directory);
  }

  void start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TUTTI_COMMAND, "meet"});
    std::vector<char*> words;
    for (std::string& each : arguments) words.push_back(each.data());
    words.push_back(nullptr);
    command = ::fork();
    ASSERT_GE(command, 0);
    if (command > 0) return;
    ::alarm(kPatienceSeconds);
    ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  void start_with_file(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--out", identifier});
    start(more);
    ASSERT_TRUE(comes_true([&] { return contents_of(output).find('\n') != std::string::npos; }));
  }
  int end() {
    int status = 0;
    EXPECT_EQ(::waitpid(command, &status, 0), command);
    command = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string directory;
  std::string identifier;
  std::string output;
  pid_t command = 0;
};

TEST_F(Meet, AsksWhereTheIdentifierShouldGo) { expect_usage_error("meet", "--out FILE"); }

TEST_F(Meet, SaysWhichFileCannotBeWritten) {
  expect_error(1, "meet --out " + directory + "/no/job.id", "cannot write '" + directory + "/no/job.id'");
}

TEST_F(Meet, WritesTheIdentifierForTheUserAloneAndNowhereElse) {
  const mode_t before = ::umask(0);
  start_with_file();
  ::umask(before);
  struct stat found {};
  ASSERT_EQ(::stat(identifier.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  const std::string text = contents_of(identifier);
  EXPECT_TRUE(text.starts_with("tutti1-") && text.ends_with("\n")) << text;
  EXPECT_FALSE(contains(contents_of(output), text.substr(0, 20)));
  ::kill(command, SIGINT);
  EXPECT_EQ(end(), 1);
  EXPECT_TRUE(contains(contents_of(output), "interrupted before the ranks have met")) << contents_of(output);
  EXPECT_FALSE(std::filesystem::exists(identifier));
}

TEST_F(Meet, PrintsTheIdentifierWhenAsked) {
  start({"--print"});
  EXPECT_TRUE(comes_true([&] { return contains(contents_of(output), "ranks may come to"); }));
  EXPECT_TRUE(contents_of(output).starts_with("tutti1-")) << contents_of(output);
  ::kill(command, SIGTERM);
  EXPECT_EQ(end(), 1);
}

TEST_F(Meet, EndsWhenTheRanksHaveMet) {
  start_with_file();
  const std::string text = contents_of(identifier);
  std::vector<pid_t> ranks;
  for (Rank rank = 0; rank < 2; ++rank) {
    ranks.push_back(::fork());
    if (ranks.back() != 0) continue;
    ::alarm(kPatienceSeconds);
    auto communicator = Communicator::create({.rank = rank, .size = 2, .store = "tcp:" + text});
    const Status status = communicator ? communicator->barrier() : communicator.status();
    if (!status) std::fprintf(stderr, "rank %d: %s\n", rank, std::string(status.text()).c_str());
    ::_exit(status ? 0 : 1);
  }
  for (const pid_t rank : ranks) {
    int status = -1;
    ::waitpid(rank, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(end(), 0) << contents_of(output);
  EXPECT_TRUE(contains(contents_of(output), "the ranks have met")) << contents_of(output);
}

TEST_F(Meet, IsKeptUntilInterruptedWhenAsked) {
  start_with_file({"--keep"});
  EXPECT_EQ(::waitpid(command, nullptr, WNOHANG), 0);
  ::kill(command, SIGINT);
  EXPECT_EQ(end(), 0);
  EXPECT_FALSE(std::filesystem::exists(identifier));
}

}  // namespace
}  // namespace tutti
