#include "plan/passes/fuse.h"

#include <gtest/gtest.h>

namespace tutti::plan {
namespace {

// Fuses rank 0 of a plan given as its steps, and prints it again.
std::string fused(const std::string& steps) {
  auto plan = parse("plan p all_reduce ranks=4 chunks=4 slots=2 reach=0-3\nrank 0 lane 0\n" + steps);
  EXPECT_TRUE(plan.is_ok()) << plan.status().text();
  const Program program = fuse(plan->programs[0]);
  std::string text;
  for (const Lane& lane : program.lanes) {
    for (std::size_t i = 0; i < lane.size(); ++i) text += print_step(lane, i, 0) + "\n";
  }
  return text;
}

TEST(Fuse, WaitsJoinTheStepThatFollows) {
  EXPECT_EQ(fused("0 token <- 1\n1 token <- 2\n2 in[0] -> out[0]\n"), "token <- 1 2; in[0] -> out[0]\n");
}

TEST(Fuse, SignalsJoinTheStepBefore) {
  EXPECT_EQ(fused("0 in[0] -> out[0]\n1 token -> 1\n2 token -> 2\n"), "in[0] -> out[0]; token -> 1 2\n");
}

TEST(Fuse, NeverPutsAWaitBeforeASignalThatCameFirst) {
  EXPECT_EQ(fused("0 token -> 1\n1 token <- 1\n"), "token -> 1\ntoken <- 1\n");
}

TEST(Fuse, SendsWhatWasJustStoredWithTheStoreItself) {
  EXPECT_EQ(fused("0 recv 3 -> out[1]\n1 out[1] -> send 1\n"), "recv 3 -> out[1] -> send 1\n");
  EXPECT_EQ(fused("0 recv 3 -> out[1]\n1 out[1] -> 2:out[1]\n"), "recv 3 -> out[1] 2:out[1]\n");
}

TEST(Fuse, CopiesWhatWasJustStagedWithTheStoreItselfUnlessOthersWereToldFirst) {
  EXPECT_EQ(fused("0 in[0] -> stage[0]\n1 stage[0] -> out[0]; token -> 1\n"), "in[0] -> stage[0] out[0]; token -> 1\n");
  EXPECT_EQ(fused("0 in[0] -> stage[0]; token -> 1\n1 stage[0] -> out[0]\n"),
            "in[0] -> stage[0]; token -> 1\nstage[0] -> out[0]\n");
  EXPECT_EQ(fused("0 in[0] -> stage[0]\n1 1:stage[0] -> out[0]\n"), "in[0] -> stage[0]\n1:stage[0] -> out[0]\n");
}

TEST(Fuse, KeepsApartWhatIsNotACopy) {
  EXPECT_EQ(fused("0 recv 3 -> out[1]\n1 out[1] + in[1] -> send 1\n"), "recv 3 -> out[1]\nout[1] + in[1] -> send 1\n");
  EXPECT_EQ(fused("0 recv 3 -> out[1]\n1 out[2] -> send 1\n"), "recv 3 -> out[1]\nout[2] -> send 1\n");
  EXPECT_EQ(fused("0 recv 3 -> out[1] -> send 2\n1 out[1] -> send 1\n"),
            "recv 3 -> out[1] -> send 2\nout[1] -> send 1\n");
}

TEST(Fuse, PointsFollowTheStepsTheyName) {
  EXPECT_EQ(fused("0 token <- 1\n1 in[0] -> out[0]\n2 in[1] -> out[1]\nrank 0 lane 1\n0 after 0.2; in[2] -> out[2]\n"),
            "token <- 1; in[0] -> out[0]\nin[1] -> out[1]\nafter 0.1; in[2] -> out[2]\n");
}

}  // namespace
}  // namespace tutti::plan
