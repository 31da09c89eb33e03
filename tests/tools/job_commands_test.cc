// Runs `tutti ps`, `top` and `kill` on a job that is served by a process of the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "launch/control/fake_job_for_test.h"
#include "launch/control/folder.h"
#include "launch/control/server.h"
#include "os/clock.h"
#include "tests/tools/answer.h"

namespace tutti {
namespace {

using launch::control::FakeJob;
using launch::control::Server;

constexpr std::chrono::seconds kPatience{60};
constexpr int kEndedBySignal = 77;  // exit code of the job's process when a rank was sent a signal

Deadline soon() { return Deadline::after(os::now(), kPatience); }

// A job whose first rank is busier every time somebody looks.
class BusyJob final : public launch::JobView {
 public:
  explicit BusyJob(os::EventLoop& loop) : loop_(loop) {
    fake.current = launch::control::some_job();
    fake.current.started = os::now();
    fake.current.pid = ::getpid();
    fake.current.ranks[0].sample.emplace();
  }
  launch::JobStatus status() const override { return fake.current; }
  void stop() override { fake.stop(); }
  void kill() override { fake.kill(); }
  Status signal(int signal, Rank rank) override { return fake.signal(signal, rank); }
  void ask_samples(std::function<void()> done) override {
    ++fake.current.ranks[0].sample->cpu_permille;
    loop_.call_later(std::move(done));
  }
  FakeJob fake;

 private:
  os::EventLoop& loop_;
};

// Serves until somebody ends the job. 0: politely.
int serve_job(const std::string& name) {
  auto loop = os::EventLoop::create();
  if (!loop) return 1;
  BusyJob job(**loop);
  const auto server = Server::create(**loop, job, name, launch::control::job_folders());
  if (!server) return 2;
  if (!(*loop)->run_until([&] { return !job.fake.asked.empty(); }, soon())) return 3;
  (*loop)->run_until([&] { return false; }, Deadline::after(os::now(), std::chrono::milliseconds(20)));
  if (job.fake.asked[0] == "stop") return 0;
  return job.fake.asked[0] == "kill" ? 9 : kEndedBySignal;
}

class JobCommands : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    name = "job-" + directory.substr(directory.size() - 6);
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  }
  void TearDown() override {
    if (job > 0) ::kill(job, SIGKILL);
    if (job > 0) ::waitpid(job, nullptr, 0);
    std::filesystem::remove_all(directory);
  }

  void start_job() {
    job = ::fork();
    ASSERT_GE(job, 0);
    if (job == 0) ::_exit(serve_job(name));
    const Deadline deadline = soon();
    while (!std::filesystem::exists(directory + "/tutti/" + name + ".sock")) {
      ASSERT_FALSE(deadline.has_passed(os::now()));
      ::usleep(500);
    }
  }
  int end_of_job() {
    int status = 0;
    EXPECT_EQ(::waitpid(job, &status, 0), job);
    job = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string directory;
  std::string name;
  pid_t job = 0;
};

TEST_F(JobCommands, PsListsTheJobItsRanksAndJson) {
  start_job();
  const Answer table = tutti("ps");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(table.text.starts_with("NAME ")) << table.text;
  EXPECT_TRUE(contains(table.text, name)) << table.text;
  EXPECT_TRUE(contains(table.text, "2 of 3  gpu1,gpu2")) << table.text;
  const std::string ranks = tutti("ps --ranks").text;
  EXPECT_TRUE(std::regex_search(ranks, std::regex(name + " +2 +102 +gpu2 +SIGKILL"))) << ranks;
  const auto jobs = nlohmann::json::parse(tutti("ps --json").text, nullptr, false);
  ASSERT_TRUE(jobs.is_array());
  std::size_t found = 0;
  for (const auto& each : jobs) found += each["name"] == name && each["ranks"].size() == 3 ? 1 : 0;
  EXPECT_EQ(found, 1u);
}

TEST_F(JobCommands, TopPrintsOnceForScripts) {
  start_job();
  const Answer once = tutti("top --once " + name);
  EXPECT_EQ(once.exit_code, 0) << once.text;
  EXPECT_TRUE(contains(once.text, "job " + name + ": running")) << once.text;
  EXPECT_TRUE(contains(once.text, "all_reduce of 1000 float32, sum")) << once.text;
  EXPECT_FALSE(contains(once.text, "\x1b")) << once.text;
  const auto json = nlohmann::json::parse(tutti("top --json " + name).text, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["ranks"][1]["sample"]["waits_for"], "0");
  const Answer without = tutti("top " + name + " < /dev/null");
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_TRUE(contains(without.text, "needs a terminal")) << without.text;
}

TEST_F(JobCommands, KillEndsTheJobAndWaitsForIt) {
  start_job();
  const Answer answer = tutti("kill " + name.substr(0, name.size() - 1));
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_EQ(answer.text, "job '" + name + "' is gone\n");
  EXPECT_EQ(end_of_job(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory + "/tutti"));
}

TEST_F(JobCommands, KillNowDoesNotAskPolitely) {
  start_job();
  EXPECT_EQ(tutti("kill --now " + name).exit_code, 0);
  EXPECT_EQ(end_of_job(), 9);
}

TEST_F(JobCommands, KillSendsASignalToARank) {
  start_job();
  const Answer answer = tutti("kill --signal usr1 --rank 1 " + name);
  EXPECT_EQ(answer.text, "sent SIGUSR1 to rank 1 of job '" + name + "'\n");
  EXPECT_EQ(end_of_job(), kEndedBySignal);
}

TEST_F(JobCommands, KillNamesWhatIsWrong) {
  expect_usage_error("kill", "name a job");
  expect_usage_error("kill x --all", "either names or --all");
  expect_usage_error("kill x --signal FLY", "'FLY' is no signal");
  expect_usage_error("kill x --now --signal TERM", "--now means SIGKILL");
  start_job();
  expect_error(1, "kill " + name + "x", "there is no job '" + name + "x'; ");
  expect_error(1, "kill --rank 9 " + name, "there is no rank 9");
}

TEST_F(JobCommands, ASocketThatAKilledLauncherLeftIsRemoved) {
  start_job();
  ::kill(job, SIGKILL);
  EXPECT_EQ(end_of_job(), -SIGKILL);
  EXPECT_EQ(tutti("ps").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory + "/tutti"));
}

// `tutti top` in a terminal of the test.
class TopInATerminal : public JobCommands {
 protected:
  void TearDown() override {
    if (top > 0) ::kill(top, SIGKILL);
    if (top > 0) ::waitpid(top, nullptr, 0);
    if (terminal >= 0) ::close(terminal);
    JobCommands::TearDown();
  }
  void start_top() {
    start_job();
    winsize size{};
    size.ws_row = 12;
    size.ws_col = 100;
    int other = -1;
    ASSERT_EQ(::openpty(&terminal, &other, nullptr, nullptr, &size), 0);
    ASSERT_EQ(::tcgetattr(terminal, &before), 0);
    top = ::fork();
    ASSERT_GE(top, 0);
    if (top == 0) {
      ::login_tty(other);
      ::execl(TUTTI_COMMAND, TUTTI_COMMAND, "top", name.c_str(), "-d", "0.1", nullptr);
      ::_exit(127);
    }
    ::fcntl(terminal, F_SETFL, O_NONBLOCK);
    // `other` stays open: what was written last can still be read when the command has gone.
  }
  // Reads until the part has come behind `from`.
  bool comes(std::string_view part, std::size_t from = 0) {
    const Deadline deadline = soon();
    while (shown.find(part, from) == std::string::npos) {
      if (deadline.has_passed(os::now())) return false;
      read_more(50);
    }
    return true;
  }
  void read_more(int wait_ms) {
    pollfd wait{.fd = terminal, .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, wait_ms);
    std::array<char, 4096> space;
    const ssize_t count = ::read(terminal, space.data(), space.size());
    if (count > 0) shown.append(space.data(), static_cast<std::size_t>(count));
  }
  int end_of_top() {
    int status = 0;
    const Deadline deadline = soon();
    while (::waitpid(top, &status, WNOHANG) == 0) {
      read_more(5);
      if (deadline.has_passed(os::now())) return -1;
    }
    top = 0;
    read_more(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  void expect_restored() {
    EXPECT_TRUE(contains(shown, "\x1b[?25h\x1b[?1049l"));
    termios after{};
    ASSERT_EQ(::tcgetattr(terminal, &after), 0);
    EXPECT_EQ(after.c_lflag, before.c_lflag);
  }

  int terminal = -1;
  pid_t top = 0;
  termios before{};
  std::string shown;
};

TEST_F(TopInATerminal, RedrawsWithoutClearingAndPutsTheTerminalBack) {
  start_top();
  ASSERT_TRUE(comes("job " + name));
  EXPECT_TRUE(shown.starts_with("\x1b[?1049h")) << "another screen";
  for (int frame = 0; frame < 3; ++frame) ASSERT_TRUE(comes("\x1b[?2026h", shown.size()));
  EXPECT_FALSE(contains(shown, "\x1b[2J"));
  ASSERT_EQ(::write(terminal, "c", 1), 1);
  ASSERT_TRUE(comes("\x1b[4;1H   1  gpu1", shown.size())) << "sorted by processor time, rank 1 comes first";
  ASSERT_EQ(::write(terminal, "q", 1), 1);
  EXPECT_EQ(end_of_top(), 0);
  expect_restored();
}

TEST_F(TopInATerminal, FollowsTheSizeOfTheTerminal) {
  start_top();
  ASSERT_TRUE(comes("\x1b[12;1H\x1b[2mq quit"));
  winsize size{};
  size.ws_row = 8;
  size.ws_col = 40;
  const std::size_t from = shown.size();
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_TRUE(comes("\x1b[8;1H\x1b[2mq quit", from));
  ASSERT_EQ(::write(terminal, "q", 1), 1);
  EXPECT_EQ(end_of_top(), 0);
}

TEST_F(TopInATerminal, PutsTheTerminalBackWhenItIsEndedBySignals) {
  for (const int signal : {SIGTERM, SIGHUP, SIGSEGV}) {
    SCOPED_TRACE(signal);
    start_top();
    ASSERT_TRUE(comes("job " + name));
    ::kill(top, signal);
    EXPECT_EQ(end_of_top(), -signal);
    expect_restored();
    ::close(terminal);
    shown.clear();
    ASSERT_EQ(tutti("kill " + name).exit_code, 0);
    end_of_job();
  }
}

TEST_F(TopInATerminal, EndsWithTheJobAndSaysSo) {
  start_top();
  ASSERT_TRUE(comes("job " + name));
  ASSERT_EQ(tutti("kill " + name).exit_code, 0);
  EXPECT_EQ(end_of_job(), 0);
  EXPECT_EQ(end_of_top(), 0);
  expect_restored();
  EXPECT_TRUE(contains(shown, "job '" + name + "' has ended")) << shown;
}

}  // namespace
}  // namespace tutti
