// Programs that use NCCL and MPI, started by srun on two virtual hosts.
#include <gtest/gtest.h>

#include "tests/nccl/launch.h"
#include "tests/nccl/report.h"
#include "tests/network/lab/slurm.h"

namespace tutti::programs {
namespace {

using lab::Slurm;

// Which MPI understands what srun says.
struct Way {
  const char* mpi;
  const char* option;
};

class UnderSlurm : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (std::string(TUTTI_MPIS).find(std::string(" ") + GetParam().mpi) == std::string::npos) {
      GTEST_SKIP() << GetParam().mpi << " was not here when this was configured; see the messages of cmake";
    }
    if (const Status status = Slurm::is_possible(); !status) GTEST_SKIP() << status.text();
  }
};

TEST_P(UnderSlurm, ProgramsAddUpOnTwoHosts) {
  const auto slurm = Slurm::create({.host_count = 2});
  ASSERT_TRUE(slurm) << slurm.status().text();
  const std::string ways = (*slurm)->run({"srun", "--mpi=list"}).output;
  if (ways.find(GetParam().option) == std::string::npos) GTEST_SKIP() << "this Slurm has only these: " << ways;
  const std::string option = std::string("--mpi=") + GetParam().option;
  const auto program = [](const char* name) { return program_path(fmt::format("{}_{}", name, GetParam().mpi)); };

  // MPICH may hang at its end, as launch_mpi says.
  const std::string last_words = GetParam().mpi == std::string("mpich") ? "all sums are right\n" : "";
  const Ending four =
      (*slurm)->run({"srun", option, "--ntasks-per-node=1", "-N2", program("several_devices_per_process")}, last_words);
  EXPECT_TRUE(four.exit_code == 0 || four.exit_code == kSpoken) << four.output;
  expect_sums(four.output, 8);
  EXPECT_EQ(places_in(four.output), "host0 0, host0 1, host0 2, host0 3, host1 0, host1 1, host1 2, host1 3");

  const Ending one =
      (*slurm)->run({"srun", option, "--ntasks-per-node=2", "-N2", program("device_per_process")}, last_words);
  EXPECT_TRUE(one.exit_code == 0 || one.exit_code == kSpoken) << one.output;
  expect_sums(one.output, 4);
  EXPECT_EQ(places_in(one.output), "host0 0, host0 1, host1 0, host1 1");
}

INSTANTIATE_TEST_SUITE_P(Programs, UnderSlurm, testing::Values(Way{"openmpi", "pmix"}, Way{"mpich", "pmi2"}),
                         [](const auto& parameter) { return std::string(parameter.param.option); });

}  // namespace
}  // namespace tutti::programs
