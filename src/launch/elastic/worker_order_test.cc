#include "launch/elastic/worker_order.h"

#include <gtest/gtest.h>

#include "launch/forwarding.h"

namespace tutti::launch {
namespace {

TEST(WorkerOrder, SaysWhoTheWorkerIsAndWhichWorldItMayExpect) {
  Settings settings;
  settings.job = "demo";
  settings.command = {"./train"};
  settings.input = InputPolicy::all;
  const PlannedWorld planned{
      .store = "tcp:somewhere",
      .members = {{.worker = 2, .host = "a", .slot = 1}, {.worker = 5, .host = "b"}, {.worker = 6, .host = "a"}},
      .ports = {{"a", {4001, 4002, 4003}}}};
  const StartWorker start{.worker = 6, .host = "a", .slot = 0, .generation = 3, .rank = 2, .size = 3};
  const Order order = order_of(settings, planned, start, 2);
  ASSERT_EQ(order.ranks.size(), 1u);
  EXPECT_EQ(order.ranks[0].rank, 6);  // messages name workers
  EXPECT_EQ(order.ranks[0].local_rank, 0);
  EXPECT_EQ(order.local_size, 2);
  EXPECT_EQ(order.input, InputPolicy::none);
  const auto value_of = [&](std::string_view name) {
    const std::string* const value = find_variable(order.ranks[0].variables, name);
    return value == nullptr ? "" : *value;
  };
  EXPECT_EQ(value_of("TUTTI_WORKER"), "6");
  EXPECT_EQ(value_of("TUTTI_GENERATION"), "3");
  EXPECT_EQ(value_of("TUTTI_STORE"), "tcp:somewhere");
  EXPECT_EQ(value_of("TUTTI_RANK"), "2");
  EXPECT_EQ(value_of("TUTTI_SIZE"), "3");
  EXPECT_EQ(value_of("TUTTI_LOCAL_RANK"), "1");
  EXPECT_EQ(value_of("TUTTI_LOCAL_SIZE"), "2");
  EXPECT_EQ(value_of("MASTER_PORT"), "4003");
}

}  // namespace
}  // namespace tutti::launch
