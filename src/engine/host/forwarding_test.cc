#include "engine/host/forwarding.h"

#include <gtest/gtest.h>

#include "tutti/plan.h"

namespace tutti::engine {
namespace {

using namespace plan;

Slice own(Rank self, Buffer buffer) { return {.owner = self, .chunk = 0, .count = 1, .stride = 1, .buffer = buffer}; }

std::shared_ptr<const Prepared> prepared(const char* algorithm, Shape shape, Rank self) {
  const Algorithm* found = find_algorithm(algorithm, shape.collective);
  EXPECT_NE(found, nullptr);
  auto made = prepare(*found, shape, self);
  EXPECT_TRUE(made.is_ok());
  return *made;
}

std::vector<StepSlices> forwarded(const Prepared& plan, Rank self) {
  const Lane& lane = plan.program.lanes[0];
  auto steps = slices_of(lane);
  forward_inputs(plan, self, lane, steps);
  return steps;
}

TEST(Forwarding, TakesOutCopiesOfInputsThatAreOnlyReadAgain) {
  const auto plan = prepared("pairwise", {.collective = Collective::all_reduce, .ranks = 2}, 0);
  const auto steps = forwarded(*plan, 0);
  std::size_t stores = 0;
  for (const StepSlices& step : steps) {
    stores += step.targets.size();
    for (const Slice& source : step.sources) EXPECT_EQ(source, own(0, Buffer::in));
  }
  ASSERT_EQ(stores, 1u);
  EXPECT_EQ(steps.back().targets[0], own(0, Buffer::out));
}

TEST(Forwarding, KeepsWhatIsReceivedApartFromTheInput) {
  const auto plan = prepared("pairwise", {.collective = Collective::all_reduce, .ranks = 2}, 1);
  const auto steps = forwarded(*plan, 1);
  ASSERT_EQ(steps.back().sources.size(), 2u);
  EXPECT_EQ(steps.back().sources[0], own(1, Buffer::scratch));
  EXPECT_EQ(steps.back().sources[1], own(1, Buffer::in));
}

TEST(Forwarding, LeavesOtherCollectivesAsTheyAre) {
  const auto plan = prepared("pairwise", {.collective = Collective::all_gather, .ranks = 3}, 1);
  const auto before = slices_of(plan->program.lanes[0]);
  const auto after = forwarded(*plan, 1);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].sources, after[i].sources);
    EXPECT_EQ(before[i].targets, after[i].targets);
  }
}

}  // namespace
}  // namespace tutti::engine
