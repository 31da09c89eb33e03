// `tutti run` on three hosts that a real ssh leads to: ranks meet, mistakes are named with their host, and nothing is
// left anywhere when a part of the job is killed or cut off.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/launch/running.h"
#include "tests/network/lab/ssh.h"

namespace tutti::programs {
namespace {

using lab::SshLab;

constexpr std::chrono::seconds kEndLimit(30);  // for a job to end everywhere after something has happened to it
const char* const kHosts = "host0:2,host1:2,host2:2";

class RunOverSsh : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (const Status status = SshLab::is_possible(); !status) {
      reason_ = status.text();
      return;
    }
    auto lab = SshLab::create(3);
    if (lab) lab_ = *std::move(lab);
    failure_ = lab.status();
  }
  static void TearDownTestSuite() { lab_.reset(); }
  void SetUp() override {
    if (!reason_.empty()) GTEST_SKIP() << reason_;
    ASSERT_TRUE(failure_) << failure_.text();
  }
  // Whatever a test says of its job: that is gone from all hosts.
  void TearDown() override {
    if (lab_ == nullptr) return;
    EXPECT_TRUE(lab_->is_quiet(kEndLimit)) << "these are left:\n" << described(lab_->user_processes());
    for (const pid_t pid : lab_->user_processes()) ::kill(pid, SIGKILL);
    for (int rank = 0; rank < 6; ++rank) {
      for (const char* what : {"rank", "child"}) ::unlink(folder().file(fmt::format("{}.{}", what, rank)).c_str());
    }
  }

  static const lab::Folder& folder() { return lab_->folder(); }
  static Ending run(const Words& options, const Words& actions) { return lab_->run(run_words(options, actions)); }
  // Two ranks on each host that sleep, each with a child that has left its session.
  static Result<lab::Process> start_sleepers(Words options = {}) {
    options.insert(options.begin(), {"-H", kHosts, "--grace", "1"});
    auto job = lab_->start(0, run_words(options, {"child=" + folder().path(), "pid=" + folder().path(), "sleep=1000"}));
    if (job && !(have_noted(folder(), "child", 6) && have_noted(folder(), "rank", 6))) {
      return Status(Code::timed_out, "the ranks did not start: " + job->output());
    }
    return job;
  }
  static void expect_end(lab::Process& job, const std::string& host) {
    const auto code = job.wait(kEndLimit);
    ASSERT_TRUE(code) << job.output();
    EXPECT_NE(*code, 0) << job.output();
    EXPECT_NE(job.output().find(host), std::string::npos) << "the host is not named: " << job.output();
  }
  static void expect_refusal(const Ending& ending, const std::vector<std::string>& parts) {
    EXPECT_NE(ending.exit_code, 0);
    EXPECT_NE(ending.exit_code, lab::kOvertime) << ending.output;
    for (const std::string& part : parts) EXPECT_NE(ending.output.find(part), std::string::npos) << ending.output;
    EXPECT_EQ(count_of(ending.output, "rank 0 of"), 0U) << "a rank has run: " << ending.output;
  }
  // A path that leads to a program on some hosts only: /run is of each host alone.
  static std::string link_on(const std::string& name, std::initializer_list<int> hosts) {
    for (const int host : hosts) {
      const auto made = lab_->lab().run(host, {.words = {"ln", "-sf", built(name), "/run/" + name}}, lab::kLimit);
      EXPECT_TRUE(made) << made.status().text();
    }
    return "/run/" + name;
  }
  static std::vector<pid_t> processes_named(int host, const std::string& part) {
    std::vector<pid_t> found = lab::processes_on(lab_->lab().keeper(host));
    std::erase_if(found, [&](pid_t pid) { return command_line(pid).find(part) == std::string::npos; });
    return found;
  }

  static std::unique_ptr<SshLab> lab_;
  static std::string reason_;
  static Status failure_;
};
std::unique_ptr<SshLab> RunOverSsh::lab_;
std::string RunOverSsh::reason_;
Status RunOverSsh::failure_;

TEST_F(RunOverSsh, RanksOfThreeHostsMeetInEveryShapeOfTree) {
  for (const char* width : {"0", "1", "2", "16"}) {
    const Ending ending = run({"-H", kHosts, "--tag", "none", "--tree-width", width}, {"place", "sum"});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    std::string expected;
    for (int rank = 0; rank < 6; ++rank) {
      expected +=
          fmt::format("rank {} of 6, {} of 2 on host{}\n{}: the ranks add up to 15\n", rank, rank % 2, rank / 2, rank);
    }
    EXPECT_EQ(sorted_lines(ending.output), sorted_lines(expected)) << "with --tree-width " << width;
  }
}

TEST_F(RunOverSsh, AHostFileAndHostsWithoutThisOneWorkAsWell) {
  ASSERT_TRUE(lab::write_file(folder().file("hosts"), "# two of them\nhost2 slots=2\nhost1 slots=1\n"));
  const Ending ending = run({"--hostfile", "hosts", "--tag", "none"}, {"place"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(sorted_lines(ending.output),
            sorted_lines("rank 0 of 3, 0 of 2 on host2\nrank 1 of 3, 1 of 2 on host2\nrank 2 of 3, 0 of 1 on host1\n"));
}

TEST_F(RunOverSsh, VariablesInputAndFolderReachOtherHosts) {
  const std::string words = shell_text(run_words({"-H", "host1,host2", "--tag", "none", "-x", "GIVEN=it's mine"},
                                                 {"show@1=GIVEN", "folder@1", "echo@0"}));
  const Ending ending = lab_->run({"sh", "-c", "echo hello | " + words});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(sorted_lines(ending.output),
            sorted_lines(fmt::format("0 read hello\n0 read all\n1: GIVEN=it's mine\n1: {}\n", folder().path())));
}

TEST_F(RunOverSsh, TheSecretIsInNoArgument) {
  auto job = start_sleepers();
  ASSERT_TRUE(job) << job.status().text();
  const std::string environment = lab::read_file(fmt::format("/proc/{}/environ", noted_pid(folder(), "rank.0")));
  const std::size_t at = environment.find("TUTTI_STORE=tcp:");
  ASSERT_NE(at, std::string::npos);
  const std::string store = environment.substr(at + 16, environment.find('\0', at) - at - 16);
  for (const pid_t pid : lab_->lab().processes()) {
    EXPECT_EQ(command_line(pid).find(store), std::string::npos) << command_line(pid);
  }
  job->send(SIGTERM);
  EXPECT_TRUE(job->wait(kEndLimit)) << job->output();
}

TEST_F(RunOverSsh, AFailureOnOneHostEndsAllOfThem) {
  const Ending ending = run({"-H", kHosts, "--grace", "1"}, {"child=" + folder().path(), "exit@5=7", "sleep=1000"});
  EXPECT_EQ(ending.exit_code, 7) << ending.output;
  EXPECT_NE(ending.output.find("rank 5 on host2 was the first to fail: exit code 7"), std::string::npos)
      << ending.output;
}

TEST_F(RunOverSsh, AnUnknownHostIsNamed) {
  expect_refusal(run({"-H", "host0,host7,host1"}, {"place"}), {"host7"});
  expect_refusal(run({"-H", "host0,host1,host7", "--tree-width", "1"}, {"place"}), {"host7"});
}

TEST_F(RunOverSsh, AHostThatRefusesConnectionsIsNamed) {
  lab_->stop_daemon(1);
  expect_refusal(run({"-H", kHosts}, {"place"}), {"host1", "Connection refused"});
  ASSERT_TRUE(lab_->start_daemon(1));
  expect_refusal(run({"-H", kHosts, "-p", "2222"}, {"place"}), {"Connection refused", "--ssh-port"});
}

TEST_F(RunOverSsh, AHostThatDoesNotTakeTheKeyIsNamed) {
  ASSERT_TRUE(lab_->set_welcome(2, false));
  expect_refusal(run({"-H", kHosts}, {"place"}), {"host2", "Permission denied", "--ssh-identity-file"});
  ASSERT_TRUE(lab_->set_welcome(2, true));
}

TEST_F(RunOverSsh, AHostWithoutTuttiIsNamed) {
  const std::string agent = link_on("tutti", {0, 1});
  expect_refusal(run({"-H", kHosts, "--agent-path", agent}, {"place"}), {"host2", agent});
}

TEST_F(RunOverSsh, AHostWithoutTheProgramIsNamed) {
  const std::string program = link_on("job_rank", {0, 1});
  const Ending ending = lab_->run({built("tutti"), "run", "-H", kHosts, "--grace", "1", program, "sleep=1000"});
  EXPECT_EQ(ending.exit_code, 127) << ending.output;
  EXPECT_NE(ending.output.find("on host2"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find(program), std::string::npos) << ending.output;
}

TEST_F(RunOverSsh, NothingOutlivesALauncherThatIsKilled) {
  auto job = start_sleepers({"--tree-width", "1"});
  ASSERT_TRUE(job) << job.status().text();
  ::kill(job->pid(), SIGKILL);
  EXPECT_TRUE(lab_->is_quiet(kEndLimit)) << described(lab_->user_processes());
}

TEST_F(RunOverSsh, NothingOutlivesAnSshThatIsKilled) {
  auto job = start_sleepers();
  ASSERT_TRUE(job) << job.status().text();
  const std::vector<pid_t> clients = processes_named(0, "ssh ");
  ASSERT_FALSE(clients.empty()) << described(lab_->user_processes());
  ::kill(clients.front(), SIGKILL);
  expect_end(*job, "host");
}

TEST_F(RunOverSsh, NothingOutlivesAnAgentThatIsKilled) {
  auto job = start_sleepers();
  ASSERT_TRUE(job) << job.status().text();
  const std::vector<pid_t> agents = processes_named(1, "tutti agent ");
  ASSERT_FALSE(agents.empty()) << described(lab_->user_processes());
  ::kill(agents.front(), SIGKILL);
  expect_end(*job, "host1");
}

TEST_F(RunOverSsh, NothingOutlivesAHostThatLosesItsPower) {
  auto job = start_sleepers({"--silence", "3"});
  ASSERT_TRUE(job) << job.status().text();
  ASSERT_TRUE(lab_->power_off(1));
  expect_end(*job, "host1");
  ASSERT_TRUE(lab_->power_on(1));
}

// Those on the host that is cut off must notice it by themselves.
TEST_F(RunOverSsh, NothingOutlivesAHostThatIsCutOff) {
  auto job = start_sleepers({"--silence", "3", "--tree-width", "1"});
  ASSERT_TRUE(job) << job.status().text();
  ASSERT_TRUE(lab_->lab().cut(2));
  expect_end(*job, "host2");
  EXPECT_TRUE(lab_->is_quiet(kEndLimit)) << described(lab_->user_processes());
  ASSERT_TRUE(lab_->lab().heal(2));
}

}  // namespace
}  // namespace tutti::programs
