#include "launch/slurm_allocation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace tutti::launch {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

Result<std::optional<SlurmAllocation>> allocation_in(const Map& map) {
  return slurm_allocation_of([&](std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  });
}

// "77: a=2 b=2, 4 tasks", or the failure.
std::string read(const Map& map) {
  const auto allocation = allocation_in(map);
  if (!allocation) return std::string(allocation.status().text());
  if (!*allocation) return "none";
  std::string text = (*allocation)->job + ":";
  for (const Host& host : (*allocation)->hosts) text += fmt::format(" {}={}", host.name, host.slots);
  return text + fmt::format(", {} tasks", (*allocation)->tasks);
}

TEST(SlurmAllocation, IsNoneOutsideOfAJob) { EXPECT_EQ(read({{"SLURM_CONF", "/etc/slurm.conf"}}), "none"); }

TEST(SlurmAllocation, HasTheNodesWithTheirTasks) {
  EXPECT_EQ(read({{"SLURM_JOB_ID", "77"},
                  {"SLURM_JOB_NODELIST", "gpu[12-13,20],cpu1"},
                  {"SLURM_TASKS_PER_NODE", "2(x3),1"},
                  {"SLURM_NTASKS", "7"},
                  {"SLURM_JOB_CPUS_PER_NODE", "64(x4)"}}),
            "77: gpu12=2 gpu13=2 gpu20=2 cpu1=1, 7 tasks");
}

TEST(SlurmAllocation, KnowsTheOldNames) {
  EXPECT_EQ(read({{"SLURM_JOBID", "7"}, {"SLURM_NODELIST", "a,b"}, {"SLURM_TASKS_PER_NODE", "4(x2)"}}),
            "7: a=4 b=4, 0 tasks");
}

TEST(SlurmAllocation, FallsBackToTasksOfEachNodeAndToCores) {
  EXPECT_EQ(read({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_NTASKS_PER_NODE", "3"}}),
            "7: a=3 b=3, 0 tasks");
  EXPECT_EQ(read({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_JOB_CPUS_PER_NODE", "8,4"}}),
            "7: a=8 b=4, 0 tasks");
}

TEST(SlurmAllocation, IsNotConfusedByTheTasksOfAStep) {
  EXPECT_EQ(read({{"SLURM_JOB_ID", "7"},
                  {"SLURM_JOB_NODELIST", "a,b"},
                  {"SLURM_TASKS_PER_NODE", "1"},
                  {"SLURM_JOB_CPUS_PER_NODE", "8(x2)"}}),
            "7: a=8 b=8, 0 tasks");
}

TEST(SlurmAllocation, NamesTheVariableThatMakesNoSense) {
  const auto expect = [](const Map& map, std::string_view part) {
    EXPECT_NE(read(map).find(part), std::string::npos) << read(map);
  };
  expect({{"SLURM_JOB_ID", "7"}}, "SLURM_JOB_NODELIST is not set");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a[1"}}, "reading SLURM_JOB_NODELIST");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "-a"}, {"SLURM_TASKS_PER_NODE", "1"}}, "begin with '-'");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a"}, {"SLURM_TASKS_PER_NODE", "1(y2)"}},
         "reading SLURM_TASKS_PER_NODE");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_TASKS_PER_NODE", "1"}},
         "SLURM_TASKS_PER_NODE=1 speaks of another number");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a,b"}}, "are not set; name the hosts and their slots with -H");
  expect({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "a"}, {"SLURM_TASKS_PER_NODE", "1"}, {"SLURM_NTASKS", "x"}},
         "SLURM_NTASKS=x");
}

}  // namespace
}  // namespace tutti::launch
