// `tutti run` inside allocations of a real Slurm: it takes the nodes it was given by one step, scripts of sbatch run as
// they are, and nothing is left when Slurm or a node ends a job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/launch/running.h"
#include "tests/network/lab/slurm.h"

namespace tutti::programs {
namespace {

using lab::Slurm;

constexpr std::chrono::seconds kEndLimit(30);

class RunInSlurm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (const Status status = Slurm::is_possible(); !status) {
      reason_ = status.text();
      return;
    }
    auto slurm = Slurm::create({.host_count = 3, .partitions = {"cas_v100_4", "compute", "gtest"}, .gpus_per_host = 4});
    failure_ = slurm.status();
    if (!slurm) return;
    slurm_ = *std::move(slurm);
    fill_path();
  }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (!reason_.empty()) GTEST_SKIP() << reason_;
    ASSERT_TRUE(failure_) << failure_.text();
  }
  void TearDown() override {
    if (slurm_ == nullptr) return;
    EXPECT_TRUE(comes_true([&] { return slurm_->job_processes().empty(); }, kEndLimit))
        << "these are left:\n"
        << described(slurm_->job_processes());
    for (const pid_t pid : slurm_->job_processes()) ::kill(pid, SIGKILL);
    for (int rank = 0; rank < 6; ++rank) {
      for (const char* what : {"rank", "child"}) ::unlink(folder().file(fmt::format("{}.{}", what, rank)).c_str());
    }
  }

  // What scripts call: our programs, and what sites put in front of them.
  static void fill_path() {
    for (const char* program : {"tutti", "job_rank", "all_reduce_perf"}) {
      std::filesystem::create_symlink(built(program), folder().file(std::string("bin/") + program));
    }
    std::filesystem::create_symlink(built("tutti"), folder().file("bin/horovodrun"));
    std::filesystem::create_symlink("/bin/true", folder().file("bin/module"));
    EXPECT_TRUE(lab::write_file(folder().file("bin/activate"), ""));
  }

  static const lab::Folder& folder() { return slurm_->folder(); }
  struct Said {
    int exit_code = -1;
    std::string out;
    std::string err;
  };
  // The script runs to its end; its streams are files with these endings: "test_job.o" and the number of the job.
  static Said submit(const std::string& script, const std::string& out, const std::string& err = "") {
    const auto job = slurm_->submit(script);
    if (!job) return {-1, "", std::string(job.status().text())};
    const auto ending = slurm_->await(*job, lab::kLimit);
    if (!ending) return {-1, "", "it has not ended: " + slurm_->daemon_output()};
    const auto said = [&](const std::string& name) {
      return name.empty() ? "" : lab::read_file(folder().file(fmt::format("{}{}", name, *job)));
    };
    return {ending->exit_code, said(out), said(err)};
  }
  static std::string expected_places(const std::vector<std::string>& hosts, int per_host) {
    std::string text;
    for (std::size_t rank = 0; rank < hosts.size() * static_cast<std::size_t>(per_host); ++rank) {
      text += fmt::format("rank {} of {}, {} of {} on {}\n", rank, hosts.size() * static_cast<std::size_t>(per_host),
                          rank % static_cast<std::size_t>(per_host), per_host,
                          hosts[rank / static_cast<std::size_t>(per_host)]);
    }
    return text;
  }
  static Words sleeping_job(const std::string& silence = "30") {
    return run_words({"--grace", "1", "--silence", silence},
                     {"child=" + folder().path(), "pid=" + folder().path(), "sleep=1000"});
  }

  static std::unique_ptr<Slurm> slurm_;
  static std::string reason_;
  static Status failure_;
};
std::unique_ptr<Slurm> RunInSlurm::slurm_;
std::string RunInSlurm::reason_;
Status RunInSlurm::failure_;

TEST_F(RunInSlurm, AnAllocationIsUsedWithoutNamingHosts) {
  Words words = {"salloc", "-Q", "-N3", "--ntasks-per-node=2"};
  const Words job = run_words({"--tag", "none"}, {"place", "sum"});
  words.insert(words.end(), job.begin(), job.end());
  const Ending ending = slurm_->run(words);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  std::string expected = expected_places({"host0", "host1", "host2"}, 2);
  for (int rank = 0; rank < 6; ++rank) expected += fmt::format("{}: the ranks add up to 15\n", rank);
  EXPECT_EQ(sorted_lines(ending.output), sorted_lines(expected));
}

// Slurm decides how many tasks a node gets, and ranks lie where those of srun would.
TEST_F(RunInSlurm, ABatchScriptStartsItAsItIs) {
  const Said said = submit(R"(#!/bin/bash
#SBATCH -J test_job
#SBATCH -p cas_v100_4
#SBATCH -N 2
#SBATCH -n 4
#SBATCH -o %x.o%j
#SBATCH -e %x.e%j
#SBATCH --time 00:30:00
#SBATCH --gres=gpu:2
#SBATCH --comment pytorch

module purge
module load gcc/10.2.0 cuda/11.4

source activate my_pytorch

srun job_rank place > places
tutti run --tag none job_rank place show@0=CUDA_VISIBLE_DEVICES sum
)",
                           "test_job.o", "test_job.e");
  EXPECT_EQ(said.exit_code, 0) << said.err;
  std::string expected = lab::read_file(folder().file("places")) + "0: CUDA_VISIBLE_DEVICES=0,1\n";
  for (int rank = 0; rank < 4; ++rank) expected += fmt::format("{}: the ranks add up to 6\n", rank);
  EXPECT_EQ(sorted_lines(said.out), sorted_lines(expected)) << said.err;
}

TEST_F(RunInSlurm, ABatchScriptWithHorovodrunRunsAsItIs) {
  const Said said = submit(R"(#!/bin/bash
#SBATCH -J test_job
#SBATCH -p cas_v100_4
#SBATCH -N 2
#SBATCH -n 4
#SBATCH -o %x.o%j
#SBATCH -e %x.e%j
#SBATCH --time 00:30:00
#SBATCH --gres=gpu:2
#SBATCH --comment tensorflow

module purge
source activate my_tensorflow

horovodrun --gloo -np 4 job_rank place sum
)",
                           "test_job.o", "test_job.e");
  EXPECT_EQ(said.exit_code, 0) << said.err;
  for (const char* part : {"rank 0 of 4, ", "rank 1 of 4, ", "rank 2 of 4, ", "rank 3 of 4, "}) {
    EXPECT_EQ(count_of(said.out, part), 1U) << said.out << said.err;
  }
  for (const char* host : {"on host0\n", "on host1\n"}) EXPECT_GE(count_of(said.out, host), 1U) << said.out;
  EXPECT_EQ(count_of(said.out, "the ranks add up to 6"), 4U) << said.out;
}

TEST_F(RunInSlurm, ABatchScriptWithSrunAndThePerfToolsRunsAsItIs) {
  const Said said = submit(R"(#!/bin/bash
#SBATCH --job-name=Hello_twcc    ## job name
#SBATCH --nodes=2                ## nodes
#SBATCH --ntasks-per-node=2      ## tasks of srun on each node
#SBATCH --cpus-per-task=4        ## processors of each task
#SBATCH --gres=gpu:4             ## GPUs of each node
#SBATCH --time=00:10:00
#SBATCH --account="PROJECT_ID"   ## who pays
#SBATCH --partition=gtest
#SBATCH -o %x.o%j
export NCCL_IB_GID_INDEX=3
srun --mpi pmi2 all_reduce_perf -b 1K -e 64K -f 8 -n 2 -t 1 -g 1
tutti run all_reduce_perf -b 1K -e 64K -f 8 -n 2 -t 1 -g 1
)",
                           "Hello_twcc.o");
  EXPECT_EQ(said.exit_code, 0) << said.out << said.err;
  EXPECT_EQ(count_of(said.out, "Out of bounds values : 0 OK"), 2U) << said.out;
}

TEST_F(RunInSlurm, AFailureBecomesTheExitCodeOfTheScript) {
  const Said said = submit(R"(#!/bin/sh
#SBATCH -J failing
#SBATCH -N 3
#SBATCH --ntasks-per-node 1
#SBATCH -p compute
#SBATCH -o %x.o%j
tutti run --grace 1 job_rank exit@2=5 sleep=1000
)",
                           "failing.o");
  EXPECT_EQ(said.exit_code, 5) << said.out << said.err;
  EXPECT_NE(said.out.find("rank 2 on host2 was the first to fail: exit code 5"), std::string::npos) << said.out;
}

TEST_F(RunInSlurm, ItIsOneStepAndNothingOutlivesScancel) {
  const auto job = slurm_->submit("#!/bin/sh\n" + shell_text(sleeping_job()) + "\n", {"-N3", "--ntasks-per-node=2"});
  ASSERT_TRUE(job) << job.status().text();
  ASSERT_TRUE(have_noted(folder(), "child", 6)) << slurm_->daemon_output();
  const std::string steps = slurm_->run({"squeue", "-h", "-s", "-j", std::to_string(*job), "-o", "%i"}).output;
  EXPECT_EQ(count_of(steps, fmt::format("{}.0\n", *job)), 1U) << steps;
  EXPECT_EQ(count_of(steps, fmt::format("{}.1\n", *job)), 0U) << steps;
  EXPECT_EQ(slurm_->run({"scancel", std::to_string(*job)}).exit_code, 0);
  const auto ending = slurm_->await(*job, kEndLimit);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->state, "CANCELLED");
}

TEST_F(RunInSlurm, NothingOutlivesALauncherThatIsKilled) {
  auto job = slurm_->start({"salloc", "-Q", "-N3", "--ntasks-per-node=2", "sh", "-c",
                            "echo $$ > launcher; exec " + shell_text(sleeping_job())});
  ASSERT_TRUE(job) << job.status().text();
  ASSERT_TRUE(have_noted(folder(), "child", 6)) << job->output();
  ::kill(noted_pid(folder(), "launcher"), SIGKILL);
  EXPECT_TRUE(job->wait(kEndLimit)) << job->output();
}

// The last, because the node takes a while to come back.
TEST_F(RunInSlurm, NothingOutlivesANodeThatLosesItsPower) {
  auto job = slurm_->start({"salloc", "-Q", "-N3", "--ntasks-per-node=2", "sh", "-c", shell_text(sleeping_job("3"))});
  ASSERT_TRUE(job) << job.status().text();
  ASSERT_TRUE(have_noted(folder(), "child", 6)) << job->output();
  ASSERT_TRUE(slurm_->power_off(2));
  const auto code = job->wait(kEndLimit);
  EXPECT_TRUE(code) << job->output();
  EXPECT_NE(code, 0);
  EXPECT_NE(job->output().find("host2"), std::string::npos) << job->output();
  ASSERT_TRUE(slurm_->power_on(2));
}

}  // namespace
}  // namespace tutti::programs
