// Processes that mpirun, or anybody who sets variables, has started find their places and each other.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/launch/answers.h"

namespace tutti::programs {
namespace {

using lab::Lab;

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

struct Mpi {
  const char* name;
  const char* program;
  const char* launcher;
};

class ByMpirun : public testing::TestWithParam<Mpi> {
 protected:
  void SetUp() override {
    if (!has_program(GetParam().program)) GTEST_SKIP() << "there is no " << GetParam().program;
  }
};

TEST_P(ByMpirun, ProcessesOfThisMachineMeet) {
  for (const int processes : {1, 2, 5}) {
    const Ending ending = launch_mpi(GetParam().name, {.processes = processes}, {who()});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_EQ(answers_in(ending.output), answers_of(GetParam().launcher, {this_host()}, processes)) << ending.output;
  }
}

TEST_P(ByMpirun, ProcessesOfTwoHostsMeet) {
  if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
#if !defined(TUTTI_HAS_PMIX)
  if (GetParam().name == std::string("openmpi")) GTEST_SKIP() << "this was built without libpmix-dev";
#endif
  const auto lab = Lab::create({.host_count = 2});
  ASSERT_TRUE(lab) << lab.status().text();
  const Ending ending = launch_mpi(GetParam().name, {.processes = 4, .lab = &*lab}, {who()});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of(GetParam().launcher, {"host0", "host1"}, 2)) << ending.output;
  EXPECT_TRUE(lab->clear(kGrace)) << "something was still running: " << ending.output;
}

INSTANTIATE_TEST_SUITE_P(Launchers, ByMpirun,
                         testing::Values(Mpi{"openmpi", "mpirun.openmpi", "Open MPI's mpirun"},
                                         Mpi{"mpich", "mpiexec.mpich", "MPICH's mpirun"}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// A process for each environment, on the host of the same index in `keepers`.
Ending start_all(const std::vector<pid_t>& keepers, const std::vector<Environment>& environments) {
  std::vector<lab::Process> processes;
  for (std::size_t index = 0; index < environments.size(); ++index) {
    auto process = lab::Process::start(keepers[index], {.words = {who()}, .environment = environments[index]});
    if (!process) return {kOvertime, std::string(process.status().text())};
    processes.push_back(*std::move(process));
  }
  Ending ending{.exit_code = 0, .output = ""};
  for (lab::Process& process : processes) {
    const auto code = process.wait(kLimit);
    if (code != 0) ending.exit_code = code.value_or(kOvertime);
    ending.output += process.output();
  }
  return ending;
}

const char* const kSecret = "a secret of this test alone";

TEST(ByVariables, OfTorchrunOnThisMachine) {
  std::vector<Environment> environments;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string own = std::to_string(rank);
    environments.push_back({{"RANK", own},
                            {"WORLD_SIZE", "3"},
                            {"LOCAL_RANK", own},
                            {"LOCAL_WORLD_SIZE", "3"},
                            {"MASTER_ADDR", "localhost"},
                            {"MASTER_PORT", "29500"},
                            {"TORCHELASTIC_RUN_ID", fmt::format("test-{}", ::getpid())}});
  }
  const Ending ending = start_all({lab::kThisMachine, lab::kThisMachine, lab::kThisMachine}, environments);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of("torchrun", {this_host()}, 3)) << ending.output;
}

class ByVariablesOnTwoHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
  // Rank 0 comes last, so that the other one has to wait for it.
  static Ending start(const Environment& first, const Environment& second) {
    const auto lab = Lab::create({.host_count = 2});
    if (!lab) return {kOvertime, std::string(lab.status().text())};
    return start_all({lab->keeper(1), lab->keeper(0)}, {second, first});
  }
};

TEST_F(ByVariablesOnTwoHosts, OfRankAndWorldSize) {
  const auto environment = [](const char* rank) {
    return Environment{{"RANK", rank},
                       {"WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "host0"},
                       {"MASTER_PORT", "4000"},
                       {"TUTTI_JOB_SECRET", kSecret}};
  };
  const Ending ending = start(environment("0"), environment("1"));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of("RANK and WORLD_SIZE", {"host0", "host1"}, 1)) << ending.output;
}

TEST_F(ByVariablesOnTwoHosts, OfTensorFlow) {
  const auto environment = [](const char* index) {
    const std::string config = fmt::format(R"({{"cluster": {{"worker": ["host0:4000", "host1:4000"]}},
                                               "task": {{"type": "worker", "index": {}}}}})",
                                           index);
    return Environment{{"TF_CONFIG", config}, {"TUTTI_JOB_SECRET", kSecret}};
  };
  const Ending ending = start(environment("0"), environment("1"));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of("TF_CONFIG", {"host0", "host1"}, 1)) << ending.output;
}

TEST_F(ByVariablesOnTwoHosts, OfTuttiWithAnAddress) {
  const auto environment = [](const char* rank) {
    return Environment{
        {"TUTTI_RANK", rank}, {"TUTTI_SIZE", "2"}, {"TUTTI_STORE", "tcp:host0:4000"}, {"TUTTI_JOB_SECRET", kSecret}};
  };
  const Ending ending = start(environment("0"), environment("1"));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(answers_in(ending.output), answers_of("tutti run", {"host0", "host1"}, 1)) << ending.output;
}

TEST_F(ByVariablesOnTwoHosts, AnotherSecretDoesNotLetIn) {
  const auto environment = [](const char* rank, const char* secret) {
    return Environment{{"TUTTI_RANK", rank},
                       {"TUTTI_SIZE", "2"},
                       {"TUTTI_STORE", "tcp:host0:4000"},
                       {"TUTTI_JOB_SECRET", secret},
                       {"TUTTI_START_TIMEOUT", "2s"}};
  };
  const Ending ending = start(environment("0", kSecret), environment("1", "somebody else's secret"));
  EXPECT_EQ(ending.exit_code, 1) << ending.output;
  EXPECT_EQ(answers_in(ending.output), "");
  EXPECT_NE(ending.output.find("secret"), std::string::npos) << ending.output;
}

TEST_F(ByVariablesOnTwoHosts, NobodyWaitsForEver) {
  const Environment second = {{"RANK", "1"},           {"WORLD_SIZE", "2"},           {"MASTER_ADDR", "host0"},
                              {"MASTER_PORT", "4000"}, {"TUTTI_JOB_SECRET", kSecret}, {"TUTTI_START_TIMEOUT", "500ms"}};
  const auto lab = Lab::create({.host_count = 2});
  ASSERT_TRUE(lab) << lab.status().text();
  const Ending ending = start_all({lab->keeper(1)}, {second});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.output.find("meeting the other processes of a job that RANK and WORLD_SIZE started"),
            std::string::npos)
      << ending.output;
}

}  // namespace
}  // namespace tutti::programs
