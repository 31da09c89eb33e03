// Processes that a real Slurm has started find their places and each other, by each way that it has.
#include <gtest/gtest.h>

#include "tests/launch/answers.h"
#include "tests/network/lab/slurm.h"

namespace tutti::programs {
namespace {

using lab::Slurm;

const std::vector<std::string> kHosts = {"host0", "host1"};

// One Slurm for all of them, since it takes seconds to start.
class BySlurm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (const Status status = Slurm::is_possible(); !status) {
      reason_ = status.text();
      return;
    }
    auto slurm = Slurm::create({.host_count = static_cast<int>(kHosts.size())});
    if (slurm) slurm_ = *std::move(slurm);
    failure_ = slurm.status();
  }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (!reason_.empty()) GTEST_SKIP() << reason_;
    ASSERT_TRUE(failure_) << failure_.text();
  }

  static bool has_way(const std::string& way) {
    return slurm_->run({"srun", "--mpi=list"}).output.find(way) != std::string::npos;
  }
  static void expect_answers(const Words& words, const std::string& launcher, int per_host = 2) {
    const Ending ending = slurm_->run(words);
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_EQ(answers_in(ending.output), answers_of(launcher, kHosts, per_host)) << ending.output;
  }

  static std::unique_ptr<Slurm> slurm_;
  static std::string reason_;
  static Status failure_;
};
std::unique_ptr<Slurm> BySlurm::slurm_;
std::string BySlurm::reason_;
Status BySlurm::failure_;

TEST_F(BySlurm, TasksMeetAtAnAddress) {
  expect_answers({"srun", "--mpi=none", "--ntasks-per-node=2", "-N2", who()}, "srun");
}

TEST_F(BySlurm, TasksMeetByPmi) {
  if (!has_way("pmi2")) GTEST_SKIP() << "this Slurm has no pmi2";
  expect_answers({"srun", "--mpi=pmi2", "--ntasks-per-node=2", "-N2", who()}, "srun");
}

TEST_F(BySlurm, TasksMeetByPmix) {
#if !defined(TUTTI_HAS_PMIX)
  GTEST_SKIP() << "this was built without libpmix-dev";
#endif
  if (!has_way("pmix")) GTEST_SKIP() << "this Slurm has no pmix";
  expect_answers({"srun", "--mpi=pmix", "--ntasks-per-node=2", "-N2", who()}, "srun");
}

TEST_F(BySlurm, TasksOfOneHostMeetWithoutANetwork) {
  const Ending ending = slurm_->run({"srun", "--mpi=none", "-n3", "-N1", who()});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of("srun", {"host0"}, 3)) << ending.output;
}

// The command of job scripts everywhere, on virtual devices.
TEST_F(BySlurm, ThePerfToolsMeasureAcrossHosts) {
  for (const char* way : {"--mpi=none", "--mpi=pmi2"}) {
    if (way == std::string("--mpi=pmi2") && !has_way("pmi2")) continue;
    const std::string tool = std::string(TUTTI_PROGRAMS) + "/all_reduce_perf";
    const Ending ending = slurm_->run({"srun", way, "--ntasks-per-node=1", "-N2", tool, "-b", "1K", "-e", "64K", "-f",
                                       "8", "-n", "2", "-t", "1", "-g", "2"});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    for (const char* part : {"on      host0 device  0", "on      host1 device  1", "Out of bounds values : 0 OK"})
      EXPECT_NE(ending.output.find(part), std::string::npos) << ending.output;
  }
}

TEST_F(BySlurm, TheShellOfAnAllocationIsNoRank) {
  const Ending ending = slurm_->run({"salloc", "-n4", who()});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("alone\n"), std::string::npos) << ending.output;
}

TEST_F(BySlurm, MpirunOfMpichInAnAllocationCounts) {
  if (!has_program("mpiexec.mpich")) GTEST_SKIP() << "there is no mpiexec.mpich";
  expect_answers({"salloc", "-N2", "--ntasks-per-node=2", "mpiexec.mpich", "-np", "4", who()}, "MPICH's mpirun");
}

TEST_F(BySlurm, MpirunOfOpenMpiInAnAllocationCounts) {
  if (!has_program("mpirun.openmpi")) GTEST_SKIP() << "there is no mpirun.openmpi";
#if !defined(TUTTI_HAS_PMIX)
  GTEST_SKIP() << "this was built without libpmix-dev";
#endif
  expect_answers({"salloc", "-N2", "--ntasks-per-node=2", "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                  "--bind-to", "none", "-np", "4", who()},
                 "Open MPI's mpirun");
}

}  // namespace
}  // namespace tutti::programs
