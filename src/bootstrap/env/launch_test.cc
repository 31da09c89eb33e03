#include "bootstrap/env/launch.h"

#include <gtest/gtest.h>

#include <map>

#include "bootstrap/env/claim.h"

namespace tutti::bootstrap {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

Result<std::optional<Launch>> launch_in(const Map& map) {
  return launch_of([&](std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  });
}

Launch launched(const Map& map) {
  const auto launch = launch_in(map);
  if (!launch) ADD_FAILURE() << launch.status().text();
  if (launch && !*launch) ADD_FAILURE() << "alone";
  return launch && *launch ? **launch : Launch{};
}

void expect_refused(const Map& map, std::string_view text) {
  const auto launch = launch_in(map);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.status().text().find(text), std::string_view::npos) << launch.status().text();
}

std::string place_text(const Launch& launch) {
  return std::to_string(launch.rank) + "/" + std::to_string(launch.size) +
         (launch.has_local_place ? " " + std::to_string(launch.local_rank) + "/" + std::to_string(launch.local_size)
                                 : "");
}

Map joined(Map one, const Map& other) {
  one.insert(other.begin(), other.end());
  return one;
}

const Map kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "3"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                      {"PMIX_NAMESPACE", "1714159617"},    {"PMIX_RANK", "3"},
                      {"OMPI_MCA_ess_base_jobid", "1"}};
const Map kMpich = {
    {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_FD", "8"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
// What the shell of salloc and the script of sbatch have.
const Map kAllocation = {{"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"},         {"SLURM_NTASKS", "4"},
                         {"SLURM_LOCALID", "0"}, {"SLURM_TASKS_PER_NODE", "4"}, {"SLURM_NODEID", "0"}};
const Map kStep = {{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "5"},
                   {"SLURM_PROCID", "3"},  {"SLURM_STEP_NUM_TASKS", "4"},
                   {"SLURM_LOCALID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                   {"SLURM_NODEID", "1"},  {"SLURM_STEP_NODELIST", "gpu[12-13]"},
                   {"SLURM_NTASKS", "999"}};
// Of daemons: one on each of four hosts.
const Map kDaemons = {{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "6"},
                      {"SLURM_PROCID", "1"},  {"SLURM_STEP_NUM_TASKS", "4"},
                      {"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"},
                      {"SLURM_NODEID", "1"},  {"SLURM_STEP_NODELIST", "gpu[12-15]"}};
const Map kOnlyTask = {{"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "0"},  {"SLURM_STEP_NUM_TASKS", "1"},
                       {"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "1"},
                       {"SLURM_NODEID", "0"},  {"SLURM_STEP_NODELIST", "gpu12"}};
const Map kTorch = {{"RANK", "3"},
                    {"WORLD_SIZE", "4"},
                    {"LOCAL_RANK", "1"},
                    {"LOCAL_WORLD_SIZE", "2"},
                    {"MASTER_ADDR", "gpu12"},
                    {"MASTER_PORT", "29500"},
                    {"TORCHELASTIC_RUN_ID", "none"}};

TEST(Launch, IsNoneWhereNothingIsSet) {
  const auto launch = launch_in({{"HOME", "/root"}, {"RANK", ""}, {"WORLD_SIZE", ""}});
  ASSERT_TRUE(launch) << launch.status().text();
  EXPECT_FALSE(*launch);
}

TEST(Launch, OfOpenMpi) {
  const Launch launch = launched(kOpenMpi);
  EXPECT_EQ(launch.launcher, "Open MPI's mpirun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_TRUE(launch.has_pmix);
  EXPECT_FALSE(launch.is_on_one_host());
  EXPECT_EQ(launch.job, "openmpi-1714159617");
}

TEST(Launch, OfOpenMpiDoesNotTakeThePmixOfAnOuterStepForItsOwn) {
  Map map = kOpenMpi;
  map["PMIX_NAMESPACE"] = "slurm.pmix.77.5";
  const Launch launch = launched(map);
  EXPECT_FALSE(launch.has_pmix);
  EXPECT_EQ(launch.job, "openmpi-1");
  map = kOpenMpi;
  map["PMIX_RANK"] = "0";
  EXPECT_FALSE(launched(map).has_pmix);
}

TEST(Launch, OfMpich) {
  const Launch launch = launched(kMpich);
  EXPECT_EQ(launch.launcher, "MPICH's mpirun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(launch.pmi_descriptor, 8);
  EXPECT_EQ(launch.job, "");
}

TEST(Launch, OfSlurm) {
  const Launch launch = launched(kStep);
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_FALSE(launch.has_pmix);
  EXPECT_EQ(launch.pmi_descriptor, -1);
  EXPECT_EQ(launch.job, "slurm-77.5");
  EXPECT_EQ(launch.address, "gpu12:" + std::to_string(port_of("slurm-77.5")));
}

TEST(Launch, OfSlurmWithPmix) {
  EXPECT_TRUE(launched(joined(kStep, {{"PMIX_NAMESPACE", "slurm.pmix.77.5"}, {"PMIX_RANK", "3"}})).has_pmix);
  EXPECT_FALSE(launched(joined(kStep, {{"PMIX_NAMESPACE", "slurm.pmix.77.4"}, {"PMIX_RANK", "3"}})).has_pmix);
  EXPECT_FALSE(launched(joined(kStep, {{"PMIX_NAMESPACE", "1714159617"}, {"PMIX_RANK", "3"}})).has_pmix);
}

TEST(Launch, OfSlurmWithPmi2IsSrunsAndMeetsByPmi) {
  const Launch launch = launched(joined(kStep, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_FD", "10"}}));
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(launch.pmi_descriptor, 10);
}

TEST(Launch, OfSlurmNeedsAStep) {
  const auto launch = launch_in(kAllocation);
  ASSERT_TRUE(launch) << launch.status().text();
  EXPECT_FALSE(*launch);
}

TEST(Launch, OfTorchrun) {
  const Launch launch = launched(kTorch);
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(launch.job, "torch-none-gpu12-29500");
  EXPECT_EQ(launch.address, "gpu12:" + std::to_string(port_of(launch.job, 29500)));
}

TEST(Launch, OfRankAndWorldSizeAlone) {
  Launch launch = launched({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "fd00::1"}, {"MASTER_PORT", "4000"}});
  EXPECT_EQ(launch.launcher, "RANK and WORLD_SIZE");
  EXPECT_EQ(place_text(launch), "1/4");
  EXPECT_EQ(launch.address, "[fd00::1]:" + std::to_string(port_of(launch.job, 4000)));
  launch = launched({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}});
  EXPECT_FALSE(launch.has_local_place);
  EXPECT_EQ(launch.job, "");
  EXPECT_EQ(launch.address, "");
}

TEST(Launch, OfTuttiRunTakesTheStoreThatIsSet) {
  const Launch launch = launched({{"TUTTI_RANK", "0"}, {"TUTTI_SIZE", "2"}, {"TUTTI_STORE", "file:/tmp/store"}});
  EXPECT_EQ(launch.launcher, "tutti run");
  EXPECT_EQ(place_text(launch), "0/2");
  EXPECT_EQ(launch.store, "file:/tmp/store");
}

const char* const kTensorFlow = R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "a:2", "b:2"], "ps": ["p:1"]},
                                    "task": {"type": "worker", "index": 2}})";

TEST(Launch, OfTensorFlowCountsTheChiefBeforeWorkers) {
  const Launch launch = launched({{"TF_CONFIG", kTensorFlow}});
  EXPECT_EQ(launch.launcher, "TF_CONFIG");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(launch.job, "tensorflow-a:1,b:1,a:2,b:2");
  EXPECT_EQ(launch.address, "a:" + std::to_string(port_of(launch.job)));
  const auto alone = launch_in({{"TF_CONFIG", R"({"environment": "cloud"})"}});
  ASSERT_TRUE(alone) << alone.status().text();
  EXPECT_FALSE(*alone);
}

TEST(Launch, OfTensorFlowRefusesWhatMakesNoSense) {
  const auto refused = [](const char* config, std::string_view why) { expect_refused({{"TF_CONFIG", config}}, why); };
  refused("{", "TF_CONFIG is no JSON object");
  refused("[1]", "TF_CONFIG is no JSON object");
  refused(R"({"cluster": {"worker": ["a:1"]}})", "has no \"task\"");
  refused(R"({"cluster": {"worker": ["a:1"]}, "task": 3})", "without a \"type\"");
  refused(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": -1}})", "without an \"index\"");
  refused(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}})", "'worker 1'");
  refused(R"({"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "ps", "index": 0}})", "'ps 0'");
  refused(R"({"cluster": {"worker": "a:1"}, "task": {"type": "worker", "index": 0}})", "no list of \"worker\"");
  refused(R"({"cluster": {"worker": [1]}, "task": {"type": "worker", "index": 0}})", "no \"host:port\"");
  refused(R"({"cluster": 3, "task": {"type": "worker", "index": 0}})", "'worker 0'");
}

TEST(Launch, RefusesVariablesThatAreHalfSet) {
  expect_refused({{"OMPI_COMM_WORLD_RANK", "1"}}, "OMPI_COMM_WORLD_RANK=1 is set without OMPI_COMM_WORLD_SIZE");
  expect_refused({{"WORLD_SIZE", "4"}}, "WORLD_SIZE=4 is set without RANK; set both, or take it away with 'env -u");
  expect_refused({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}}, "without MPI_LOCALNRANKS");
  expect_refused({{"SLURM_STEP_ID", "1"}}, "SLURM_PROCID is not set");
  expect_refused({{"SLURM_STEP_ID", "1"}, {"SLURM_PROCID", "0"}}, "SLURM_STEP_NUM_TASKS is not set");
  expect_refused({{"PMI_PORT", "host:4000"}, {"PMI_ID", "0"}}, "-pmi-port");
}

TEST(Launch, RefusesWhatIsNoNumber) {
  expect_refused({{"RANK", "one"}, {"WORLD_SIZE", "4"}}, "RANK=one is no number from 0 to 2147483647");
  expect_refused({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "RANK=-1 is no number");
  expect_refused({{"RANK", "1"}, {"WORLD_SIZE", "4 "}}, "WORLD_SIZE=4  is no number");
  expect_refused({{"RANK", "1"}, {"WORLD_SIZE", "99999999999"}}, "WORLD_SIZE=99999999999 is no number");
  expect_refused({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "70000"}}, "MASTER_PORT=70000 is no port");
  expect_refused({{"RANK", std::string("\n") + std::string(100, 'x')}, {"WORLD_SIZE", "4"}}, "RANK=?xxx");
}

TEST(Launch, RefusesRanksThatDoNotFit) {
  expect_refused({{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "RANK=4 and WORLD_SIZE=4 make no sense together");
  expect_refused({{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "make no sense together");
  expect_refused({{"SLURM_STEP_ID", "1"}, {"SLURM_PROCID", "7"}, {"SLURM_STEP_NUM_TASKS", "2"}}, "SLURM_PROCID=7");
  Map map = kOpenMpi;
  map["OMPI_COMM_WORLD_LOCAL_SIZE"] = "5";
  expect_refused(map, "OMPI_COMM_WORLD_LOCAL_SIZE=5 is more than OMPI_COMM_WORLD_SIZE=4");
  map = kStep;
  map["SLURM_NODEID"] = "2";
  expect_refused(map, "SLURM_NODEID=2 and SLURM_LOCALID=1 do not fit SLURM_STEP_TASKS_PER_NODE=2(x2)");
  map = kStep;
  map["SLURM_STEP_TASKS_PER_NODE"] = "two";
  expect_refused(map, "reading SLURM_STEP_TASKS_PER_NODE");
  map = kStep;
  map["SLURM_STEP_NODELIST"] = "gpu[1";
  expect_refused(map, "reading SLURM_STEP_NODELIST");
}

TEST(SeveralLaunchers, MayAgree) {
  // A script that exports what PyTorch wants, and mpirun as `tutti run` would have it.
  const Launch launch = launched(joined(kStep, {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "gpu12"}}));
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(place_text(launched(joined(kTorch, joined(kMpich, kOpenMpi)))), "3/4 1/2");
}

TEST(SeveralLaunchers, ThatDisagreeAreNamedWithTheirValues) {
  expect_refused(joined(kOpenMpi, {{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
                 "RANK=0 and WORLD_SIZE=2 (RANK and WORLD_SIZE), but OMPI_COMM_WORLD_RANK=3 and OMPI_COMM_WORLD_SIZE=4 "
                 "(Open MPI's mpirun)");
  expect_refused(joined(kOpenMpi, {{"RANK", "0"}, {"WORLD_SIZE", "2"}}), "env -u RANK -u WORLD_SIZE");
  expect_refused(joined(kStep, {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "SLURM_PROCID=3");
  expect_refused(joined(kTorch, {{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]},
                                                  "task": {"type": "worker", "index": 0}})"}}),
                 "TF_CONFIG with task worker 0, rank 0 of 2");
}

TEST(SeveralLaunchers, MpirunInAnAllocationCounts) {
  EXPECT_EQ(launched(joined(kOpenMpi, kAllocation)).launcher, "Open MPI's mpirun");
  EXPECT_EQ(launched(joined(kMpich, kAllocation)).launcher, "MPICH's mpirun");
}

TEST(SeveralLaunchers, MpirunThatSrunStartsOnceCounts) {
  const Launch launch =
      launched(joined(kOpenMpi, joined(kOnlyTask, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMI_FD", "5"}})));
  EXPECT_EQ(launch.launcher, "Open MPI's mpirun");
  EXPECT_EQ(place_text(launch), "3/4 1/2");
  EXPECT_EQ(launch.pmi_descriptor, -1) << "that leads to srun";
}

TEST(SeveralLaunchers, DaemonsOfOnePerHostGiveWay) {
  for (const Map& inner : {kOpenMpi, kMpich, kTorch}) {
    const Launch launch = launched(joined(inner, kDaemons));
    EXPECT_NE(launch.launcher, "srun");
    EXPECT_EQ(place_text(launch), "3/4 1/2");
    EXPECT_EQ(launch.address.find("slurm"), std::string::npos);
  }
  Map one_per_host = kMpich;  // mpirun -ppn 1 torchrun
  one_per_host["MPI_LOCALRANKID"] = "0";
  one_per_host["MPI_LOCALNRANKS"] = "1";
  one_per_host["PMI_RANK"] = "1";
  one_per_host["PMI_SIZE"] = "2";
  const Launch launch = launched(joined(kTorch, one_per_host));
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.pmi_descriptor, -1);
}

TEST(SeveralLaunchers, SrunThatMpirunStartsOnceCounts) {
  EXPECT_EQ(launched(joined(kStep, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})).launcher, "srun");
}

TEST(PortOfAJob, IsTheSameEverywhereAndNotTheOneThatIsTaken) {
  const std::uint16_t port = port_of("slurm-77.5");
  EXPECT_EQ(port, 21492);
  EXPECT_EQ(port_of("slurm-77.5", port), port + 1);
  EXPECT_NE(port_of("slurm-77.6"), port);
}

}  // namespace
}  // namespace tutti::bootstrap
