#include "tutti/check.h"

#include <gtest/gtest.h>

namespace tutti::plan {
namespace {

Plan plan_of(const std::string& text) {
  auto plan = parse(text);
  EXPECT_TRUE(plan.is_ok()) << plan.status().text();
  return *plan;
}

Plan built(const char* algorithm, Rank ranks, Reach reach = Reach::none) {
  Shape shape;
  shape.ranks = ranks;
  shape.reach = reach;
  return *build(*find_algorithm(algorithm, Collective::all_reduce), shape);
}

std::string fault_of(const std::string& text, bool in_place = false) {
  const auto result = check(plan_of(text), {.in_place = in_place});
  const auto* fault = std::get_if<Fault>(&result);
  return fault == nullptr ? "proved" : fault->text();
}

TEST(Checker, RingNeedsTwoSlotsWhenForwardsAreFused) {
  const auto result = check(built("ring", 4));
  EXPECT_EQ(std::get<Proof>(result).slots, 2u);
  Plan tight = built("ring", 4);
  tight.slots = 1;
  const auto stuck = check(tight);
  EXPECT_EQ(
      std::get<Fault>(stuck).text(),
      "rank 0 lane 0 step 1: deadlock: needs a free slot to rank 1: all 1 hold messages not taken by rank 1, which "
      "is stuck at step 1");
}

TEST(Checker, CountsWhatItProved) {
  const auto result = check(built("direct", 4, Reach::full));
  const auto& proof = std::get<Proof>(result);
  EXPECT_EQ(proof.steps, 12u);
  EXPECT_EQ(proof.messages, 24u);
  EXPECT_EQ(proof.reaches, 24u);
}

TEST(Checker, NamesWhomADeadlockWaitsFor) {
  EXPECT_EQ(fault_of("plan p send_receive ranks=2 chunks=1 slots=2 root=0 peer=1\n"
                     "rank 0 lane 0\n"
                     "rank 1 lane 0\n  0 recv 0 -> out[0]\n"),
            "rank 1 lane 0 step 0: deadlock: waits for a message from rank 0, which has ended");
  EXPECT_EQ(fault_of("plan p barrier ranks=2 chunks=0 slots=2\n"
                     "rank 0 lane 0\n  0 token <- 1\n  1 token -> 1\n"
                     "rank 1 lane 0\n  0 token <- 0\n  1 token -> 0\n"),
            "rank 0 lane 0 step 0: deadlock: waits for a message from rank 1, which is stuck at step 0");
}

TEST(Checker, FindsWhatIsSentAndNeverTaken) {
  EXPECT_EQ(fault_of("plan p send_receive ranks=2 chunks=1 slots=2 root=0 peer=1\n"
                     "rank 0 lane 0\n  0 in[0] -> send 1\n  1 in[0] -> send 1\n"
                     "rank 1 lane 0\n  0 recv 0 -> out[0]\n"),
            "rank 0 lane 0 step 1: unread message: when all steps have run, a message to rank 1 has not been taken");
}

constexpr const char* kPair = "plan p all_reduce ranks=2 chunks=1 slots=2 reach=0-1\n";

TEST(Checker, FindsAContributionCountedTwiceOrMissing) {
  EXPECT_EQ(fault_of("plan p all_reduce ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0] + in[0] finish -> out[0]\n"),
            "rank 0 lane 0 step 0: wrong value: counts the contribution of rank 0 to chunk 0 twice");
  EXPECT_EQ(
      fault_of(
          "plan p all_reduce ranks=2 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0] finish -> out[0]\nrank 1 lane 0\n"),
      "rank 0 lane 0 step 0: wrong value: finishes chunk 0 without ranks 1");
  EXPECT_EQ(
      fault_of("plan p all_reduce ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0] -> out[0]\n"),
      "rank 0 lane 0 step 0: wrong value: in the end out[0] holds chunk 0 of rank 0 instead of the finished chunk 0 of "
      "rank 0");
  EXPECT_EQ(fault_of("plan p all_reduce ranks=1 chunks=2 slots=1\nrank 0 lane 0\n  0 in[0] + in[1] finish -> out[0]\n"),
            "rank 0 lane 0 step 0: wrong value: adds chunk 1 of rank 0 to chunk 0 of rank 0");
  EXPECT_EQ(fault_of("plan p all_reduce ranks=1 chunks=2 slots=1\nrank 0 lane 0\n  0 in[0] finish -> out[1]\n"),
            "rank 0 lane 0 step 0: wrong value: stores the finished chunk 0 of rank 0 in out[1] of rank 0");
  EXPECT_EQ(fault_of("plan p all_reduce ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 scratch[0] finish -> out[0]\n"),
            "rank 0 lane 0 step 0: wrong value: loads scratch[0] of rank 0 before anything is stored there");
}

TEST(Checker, FindsABlockOfAnotherRankEvenWhereItIsOverwrittenLater) {
  EXPECT_EQ(
      fault_of("plan p all_to_all ranks=2 chunks=2 slots=2\n"
               "rank 0 lane 0\n  0 in[1] -> send 1\n  1 in[0] -> out[1]\n  2 in[0] -> out[0]\n  3 recv 1 -> out[1]\n"
               "rank 1 lane 0\n  0 in[0] -> send 0\n  1 in[1] -> out[1]\n  2 recv 0 -> out[0]\n"),
      "rank 0 lane 0 step 1: wrong value: stores chunk 0 of rank 0 in out[1] of rank 0");
}

TEST(Checker, FindsTwoStepsThatTouchOneChunkUnordered) {
  const std::string text =
      std::string(kPair) +
      "rank 0 lane 0\n  0 token -> 1\n  1 token <- 1; in[0] + 1:in[0] finish -> out[0] 1:out[0]; token -> 1\n"
      "  2 token <- 1\n"
      "rank 1 lane 0\n  0 token -> 0\n  1 token <- 0; 0:in[0] + in[0] finish -> out[0]; token -> 0\n"
      "  2 token <- 0\n";
  EXPECT_EQ(
      fault_of(text),
      "rank 0 lane 0 step 1: race: writes out[0] of rank 1 while rank 1 lane 0 step 1 may be at it: nothing orders the "
      "two");
}

TEST(Checker, FindsARaceThatOnlyExistsInPlace) {
  // Every rank reads all inputs and stores the sum at once: in place that overwrites an input others still read.
  const std::string text =
      std::string(kPair) +
      "rank 0 lane 0\n  0 token -> 1\n  1 token <- 1; in[0] + 1:in[0] finish -> out[0]; token -> 1\n  2 token <- 1\n"
      "rank 1 lane 0\n  0 token -> 0\n  1 token <- 0; 0:in[0] + in[0] finish -> out[0]; token -> 0\n  2 token <- 0\n";
  EXPECT_EQ(fault_of(text), "proved");
  EXPECT_NE(fault_of(text, true).find("race"), std::string::npos);
}

TEST(Checker, FindsAnInputThatIsGoneInPlace) {
  const std::string text =
      "plan p all_reduce ranks=2 chunks=1 slots=2\n"
      "rank 0 lane 0\n  0 recv 1 + in[0] -> out[0]\n  1 in[0] finish -> out[0] -> send 1\n"
      "rank 1 lane 0\n  0 in[0] -> send 0\n  1 recv 0 -> out[0]\n";
  EXPECT_EQ(
      fault_of(text, true),
      "rank 0 lane 0 step 1: wrong value: loads in[0] of rank 0 after out[0], which is the same place, was stored to");
  EXPECT_EQ(fault_of(text), "rank 0 lane 0 step 1: wrong value: finishes chunk 0 without ranks 1");
}

TEST(Checker, FindsReachesOutsideTheTimeTheOwnerIsInTheCall) {
  EXPECT_EQ(fault_of("plan p broadcast ranks=2 chunks=1 slots=2 root=0 reach=0-1\n"
                     "rank 0 lane 0\n  0 in[0] -> out[0]\n  1 token <- 1\n"
                     "rank 1 lane 0\n  0 0:in[0] -> out[0]; token -> 0\n"),
            "rank 1 lane 0 step 0: lifetime: reaches 0:in[0] but no token says that rank 0 has entered the call");
  EXPECT_EQ(
      fault_of("plan p broadcast ranks=2 chunks=1 slots=2 root=0 reach=0-1\n"
               "rank 0 lane 0\n  0 in[0] -> out[0]; token -> 1\n"
               "rank 1 lane 0\n  0 token <- 0; 0:in[0] -> out[0]\n"),
      "rank 1 lane 0 step 0: lifetime: touches memory of rank 0, which may leave the call before: no token tells it");
}

TEST(Checker, AllowsAReachOfNothingAtAnyTime) {
  EXPECT_EQ(fault_of("plan p send_receive ranks=2 chunks=1 slots=2 root=0 peer=1 reach=0-1\n"
                     "rank 0 lane 0\n  0 in[0] -> send 1\n"
                     "rank 1 lane 0\n  0 0:in[0:0] -> out[0:0]\n  1 recv 0 -> out[0]\n"),
            "proved");
}

TEST(Checker, FindsChunksThatABufferDoesNotHave) {
  EXPECT_EQ(fault_of("plan p reduce ranks=2 chunks=1 slots=2 root=0\n"
                     "rank 0 lane 0\n  0 recv 1 + in[0] finish -> out[0]\n"
                     "rank 1 lane 0\n  0 in[0] -> out[0] -> send 0\n"),
            "rank 1 lane 0 step 0: out of bounds: stores to out[0] of rank 1, which does not exist in reduce");
  EXPECT_EQ(fault_of("plan p all_reduce ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0:2] finish -> out[0:2]\n"),
            "rank 0 lane 0 step 0: out of bounds: in[0:2] goes beyond the 1 chunks of the plan");
}

TEST(Checker, FindsMalformedSteps) {
  const std::string one = "plan p all_reduce ranks=2 chunks=1 slots=1\nrank 0 lane 0\n";
  EXPECT_EQ(fault_of(one + "  0 1:in[0] -> out[0]\n"),
            "rank 0 lane 0 step 0: malformed: reaches 1:in[0], but the memory of rank 1 cannot be reached from rank 0");
  EXPECT_EQ(fault_of(one + "  0 in[0] -> in[0]\n"),
            "rank 0 lane 0 step 0: malformed: stores to in[0]: inputs are read only");
  EXPECT_EQ(fault_of(one + "  0 recv 0 -> out[0]\n"), "rank 0 lane 0 step 0: malformed: 0 is not another rank");
  EXPECT_EQ(fault_of(one + "  0 after 3.1; in[0] -> out[0]\n"),
            "rank 0 lane 0 step 0: malformed: comes after step 3.1, which is not a step of another lane");
  EXPECT_EQ(fault_of("plan p all_gather ranks=2 chunks=3 slots=1\n"),
            "rank 0 lane 0 step 0: malformed: 3 chunks do not divide into a block for each of 2 ranks");
  EXPECT_EQ(fault_of("plan p broadcast ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0] finish -> out[0]\n"),
            "rank 0 lane 0 step 0: malformed: finishes a sum, but broadcast adds nothing up");
}

TEST(Checker, FindsATokenWhereAValueIsExpected) {
  EXPECT_EQ(fault_of("plan p send_receive ranks=2 chunks=1 slots=2 root=0 peer=1\n"
                     "rank 0 lane 0\n  0 token -> 1\n  1 in[0] -> send 1\n"
                     "rank 1 lane 0\n  0 recv 0 -> out[0]\n  1 token <- 0\n"),
            "rank 1 lane 0 step 0: wrong value: takes a value from rank 0 but the next message there is a token");
}

TEST(Checker, FindsARankThatLeavesABarrierTooEarly) {
  EXPECT_EQ(fault_of("plan p barrier ranks=3 chunks=0 slots=2\n"
                     "rank 0 lane 0\n  0 token -> 1\n  1 token <- 1\n"
                     "rank 1 lane 0\n  0 token <- 0\n  1 token -> 0\n"
                     "rank 2 lane 0\n"),
            "rank 0 lane 0 step 0: wrong value: leaves the barrier without a sign of rank 2");
}

TEST(Checker, OrdersLanesOnlyByWhatIsSaid) {
  const std::string head =
      "plan p all_reduce ranks=1 chunks=1 slots=1\nrank 0 lane 0\n  0 in[0] finish -> out[0]\nrank 0 lane 1\n";
  EXPECT_NE(fault_of(head + "  0 out[0] -> scratch[0]\n").find("race"), std::string::npos);
  EXPECT_EQ(fault_of(head + "  0 after 0.0; out[0] -> scratch[0]\n"), "proved");
}

constexpr const char* kStaged = "plan p broadcast ranks=2 chunks=2 slots=2 root=0 reach=stage:0-1\n";
constexpr const char* kFetch = "rank 1 lane 0\n  0 token <- 0; 0:stage[0:2] -> out[0:2]\n";

TEST(Checker, LetsAnOwnerLeaveWhileOthersLoadFromItsStage) {
  EXPECT_EQ(fault_of(std::string(kStaged) + "rank 0 lane 0\n  0 in[0:2] -> stage[0:2] out[0:2]; token -> 1\n" + kFetch),
            "proved");
}

TEST(Checker, FindsLoadsFromAStageThatNothingOrdersAfterTheStore) {
  EXPECT_EQ(
      fault_of(std::string(kStaged) + "rank 0 lane 0\n  0 token -> 1\n  1 in[0:2] -> stage[0:2] out[0:2]\n" + kFetch),
      "rank 1 lane 0 step 0: race: reads stage[0] of rank 0 while rank 0 lane 0 step 1 may be at it: nothing orders "
      "the "
      "two");
  EXPECT_EQ(fault_of(std::string(kStaged) + "rank 0 lane 0\n  0 in[0:2] -> out[0:2]; token -> 1\n" + kFetch),
            "rank 1 lane 0 step 0: wrong value: loads stage[0] of rank 0 before anything is stored there");
}

TEST(Checker, FindsASecondStoreToAStageWhileOthersMayLoad) {
  const std::string text = std::string(kStaged) +
                           "rank 0 lane 0\n  0 in[0:2] -> stage[0:2] out[0:2]; token -> 1\n  1 in[1] -> stage[1]\n" +
                           kFetch;
  EXPECT_NE(fault_of(text).find("race: "), std::string::npos) << fault_of(text);
}

TEST(Checker, HoldsStepsToTheReachOfThePlan) {
  const auto fault_at = [](const char* reach, const char* step) {
    return fault_of("plan p all_reduce ranks=2 chunks=1 slots=1" + std::string(reach) + "\nrank 0 lane 0\n  0 " + step +
                    "\n");
  };
  EXPECT_EQ(
      fault_at(" reach=stage:0-1", "1:in[0] -> out[0]"),
      "rank 0 lane 0 step 0: malformed: loads 1:in[0], but reach stage does not allow it: others' in and out need "
      "reach load");
  EXPECT_EQ(fault_at(" reach=load:0-1", "in[0] -> 1:out[0]"),
            "rank 0 lane 0 step 0: malformed: stores to 1:out[0], but reach load does not allow it: others' out needs "
            "reach full");
  EXPECT_EQ(fault_at("", "in[0] -> stage[0]"),
            "rank 0 lane 0 step 0: malformed: uses stage[0], but without reach there are no stages");
  EXPECT_EQ(fault_at(" reach=stage:0-1", "in[0] -> stage[1]"),
            "rank 0 lane 0 step 0: out of bounds: stage[1] goes beyond the 1 chunks of the plan");
}

TEST(Checker, OrdersLanesThatShareAStage) {
  const std::string head =
      "plan p all_reduce ranks=1 chunks=1 slots=1 reach=stage:0\nrank 0 lane 0\n  0 in[0] -> stage[0]\nrank 0 lane 1\n";
  EXPECT_NE(fault_of(head + "  0 stage[0] finish -> out[0]\n").find("race"), std::string::npos);
  EXPECT_EQ(fault_of(head + "  0 after 0.0; stage[0] finish -> out[0]\n"), "proved");
}

TEST(Checker, RefusesWhatItCannotHold) {
  Plan plan;
  plan.ranks = 20000;
  plan.chunks = 1;
  plan.programs.resize(20000);
  for (Program& program : plan.programs) program.lanes.resize(1);
  const auto result = check(plan);
  EXPECT_NE(std::get<Fault>(result).reason.find("more than can be checked"), std::string::npos);
}

}  // namespace
}  // namespace tutti::plan
