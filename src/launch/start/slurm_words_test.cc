#include "launch/start/slurm_words.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::launch {
namespace {

using Words = std::vector<std::string>;

TEST(SrunWords, StartOneTaskOnEachHostInOneStep) {
  const std::vector<Host> hosts{{.name = "gpu12", .slots = 8}, {.name = "gpu7", .slots = 4}};
  const Words words = srun_words({.program = "srun", .options = {"--gres=gpu:8"}}, hosts, Words{"tutti", "agent"});
  for (const char* wanted : {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--nodelist=gpu12,gpu7", "--input=all"})
    EXPECT_NE(std::ranges::find(words, wanted), words.end()) << wanted;
  EXPECT_EQ(words.front(), "srun");
  EXPECT_EQ(Words(words.end() - 3, words.end()), (Words{"--gres=gpu:8", "tutti", "agent"}));
}

TEST(SrunEnvironment, LeavesTheShapeOfOtherStepsOut) {
  EXPECT_EQ(srun_environment({"SLURM_JOB_ID=7", "SLURM_NTASKS=12", "PATH=/bin", "SLURM_NTASKS_PER_NODE=4"}),
            (Words{"SLURM_JOB_ID=7", "PATH=/bin"}));
}

}  // namespace
}  // namespace tutti::launch
