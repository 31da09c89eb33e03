#include "bootstrap/job_world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>

#include "base/knobs.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/store/process_store.h"
#include "os/clock.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

Deadline soon() { return Deadline::after(os::now(), 20s); }

JobWorld world_of(int generation) {
  return {.generation = generation,
          .store = "tcp:tutti1-somewhere",
          .members = {{.worker = 4, .host = "gpu1", .slot = 1, .joined = 0},
                      {.worker = 9, .host = "gpu2", .slot = 0, .joined = generation}}};
}

TEST(JobWorld, IsReadAsItWasWritten) {
  const JobWorld world = world_of(3);
  const auto read = parse_job_world(encode(world));
  ASSERT_TRUE(read) << read.status().text();
  EXPECT_EQ(*read, world);
  EXPECT_EQ(read->rank_of(9), 1);
  EXPECT_EQ(read->rank_of(5), kNoRank);
}

TEST(JobWorld, EveryPieceOfOneIsRefused) {
  const Bytes whole = encode(world_of(3));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_job_world(std::span(whole).first(length))) << length;
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(parse_job_world(longer));
}

TEST(JobWorld, WhoAsksFindsTheNewest) {
  const auto store = create_process_store();
  auto none = current_world(*store);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  ASSERT_TRUE(publish_world(*store, world_of(0)));
  ASSERT_TRUE(publish_world(*store, world_of(1)));
  const auto current = current_world(*store);
  ASSERT_TRUE(current && current->has_value());
  EXPECT_EQ((*current)->generation, 1);
  const auto awaited = await_world(*store, 9, -1, soon());
  ASSERT_TRUE(awaited) << awaited.status().text();
  EXPECT_EQ(awaited->generation, 1);
}

TEST(JobWorld, WhoWaitsIsWokenByTheNextOne) {
  const auto store = create_process_store();
  ASSERT_TRUE(publish_world(*store, world_of(0)));
  EXPECT_FALSE(*has_newer_world(*store, 0));
  auto waiting = std::async(std::launch::async, [&] { return await_world(*store, 4, 0, soon()); });
  ASSERT_TRUE(publish_world(*store, world_of(1)));
  const auto world = waiting.get();
  ASSERT_TRUE(world) << world.status().text();
  EXPECT_EQ(*world, world_of(1));
  EXPECT_TRUE(*has_newer_world(*store, 0));
}

TEST(JobWorld, NewcomersWaitForOneThatTheyArePartOfAndOthersLearnThatTheyAreNot) {
  const auto store = create_process_store();
  ASSERT_TRUE(publish_world(*store, world_of(0)));
  auto newcomer = std::async(std::launch::async, [&] { return await_world(*store, 12, -1, soon()); });
  auto other = std::async(std::launch::async, [&] { return await_world(*store, 9, 0, soon()); });
  JobWorld next = world_of(1);
  next.members[1].worker = 12;
  ASSERT_TRUE(publish_world(*store, next));
  const auto joined = newcomer.get();
  ASSERT_TRUE(joined) << joined.status().text();
  EXPECT_EQ(joined->rank_of(12), 1);
  const auto left = other.get();
  ASSERT_TRUE(left) << left.status().text();
  EXPECT_EQ(left->rank_of(9), kNoRank);
}

TEST(JobWorld, ThatDoesNotComeIsNamedAtTheDeadline) {
  const auto store = create_process_store();
  const auto world = await_world(*store, 4, 6, Deadline{os::now()});
  ASSERT_FALSE(world);
  EXPECT_EQ(world.status().code(), Code::timed_out);
  EXPECT_NE(world.status().text().find("world 7"), std::string_view::npos) << world.status().text();
}

TEST(JobWorld, WhoeverWaitsLearnsWhyNoneWillCome) {
  const auto store = create_process_store();
  ASSERT_TRUE(publish_world(*store, world_of(0)));
  auto waiting = std::async(std::launch::async, [&] { return await_world(*store, 4, 0, soon()); });
  ASSERT_TRUE(close_worlds(*store, "2 slots are too few"));
  const auto world = waiting.get();
  ASSERT_FALSE(world);
  EXPECT_EQ(world.status().code(), Code::aborted);
  EXPECT_NE(world.status().text().find("2 slots are too few"), std::string_view::npos);
}

TEST(JobWorld, TheNewestReportOfAFailureCounts) {
  const auto store = create_process_store();
  EXPECT_EQ(*reported_generation(*store), -1);
  ASSERT_TRUE(report_failure(*store, 4));
  ASSERT_TRUE(report_failure(*store, 2));  // late
  EXPECT_EQ(*reported_generation(*store), 4);
  ASSERT_TRUE(report_failure(*store, 10));
  EXPECT_EQ(*reported_generation(*store), 10);
}

TEST(JobWorld, TheLauncherPublishesItThroughItsOwnMeetingPoint) {
  const auto knobs = Knobs::read([](std::string_view) { return std::nullopt; });
  ASSERT_TRUE(knobs);
  auto point = MeetingPoint::open(*knobs);
  ASSERT_TRUE(point) << point.status().text();
  const auto launcher = (*point)->store_here();
  const auto rank = open_store("tcp:" + std::string((*point)->identifier().text()), 1, soon());
  ASSERT_TRUE(rank) << rank.status().text();
  auto waiting = std::async(std::launch::async, [&] { return await_world(**rank, 4, -1, soon()); });
  ASSERT_TRUE(publish_world(*launcher, world_of(0)));
  const auto world = waiting.get();
  ASSERT_TRUE(world) << world.status().text();
  EXPECT_EQ(*world, world_of(0));
  ASSERT_TRUE(report_failure(**rank, 0));
  EXPECT_EQ(*reported_generation(*launcher), 0);
  EXPECT_FALSE(launcher->wait("never", soon()));  // at once
}

Result<std::optional<WorkerPlace>> place_in(const std::map<std::string, std::string, std::less<>>& variables) {
  return worker_place_of([&](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(WorkerPlace, IsInTheEnvironmentOrThereIsNone) {
  const auto place = place_in({{"TUTTI_WORKER", "7"}, {"TUTTI_GENERATION", "2"}, {"TUTTI_STORE", "tcp:x"}});
  ASSERT_TRUE(place && place->has_value()) << place.status().text();
  EXPECT_EQ((*place)->worker, 7);
  EXPECT_EQ((*place)->first_generation, 2);
  EXPECT_EQ((*place)->store, "tcp:x");
  const auto none = place_in({{"TUTTI_STORE", "tcp:x"}});
  EXPECT_TRUE(none && !none->has_value());
}

TEST(WorkerPlace, HalfSetOrWrongIsAnErrorThatNamesTheVariable) {
  const auto half = place_in({{"TUTTI_WORKER", "7"}, {"TUTTI_STORE", "tcp:x"}});
  ASSERT_FALSE(half);
  EXPECT_NE(half.status().text().find("TUTTI_GENERATION"), std::string_view::npos);
  const auto wrong = place_in({{"TUTTI_WORKER", "-7"}, {"TUTTI_GENERATION", "2"}, {"TUTTI_STORE", "tcp:x"}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.status().text().find("TUTTI_WORKER=-7"), std::string_view::npos);
  const auto storeless = place_in({{"TUTTI_WORKER", "7"}, {"TUTTI_GENERATION", "2"}});
  ASSERT_FALSE(storeless);
  EXPECT_NE(storeless.status().text().find("TUTTI_STORE"), std::string_view::npos);
}

}  // namespace
}  // namespace tutti::bootstrap
