#include "launch/elastic/policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;

// Carries out what a policy wants: workers start at once unless told otherwise, and the last of each action is kept.
class Job {
 public:
  explicit Job(PolicySettings settings) : policy(settings, 1, now) {}

  void find(const std::vector<Host>& hosts) { take(policy.hosts_found(hosts, now)); }
  void fail(WorkerId worker, std::string_view what = "exit code 1") {
    take(policy.worker_ended(worker, Ending::failed, what, now));
  }
  void end_well(WorkerId worker) { take(policy.worker_ended(worker, Ending::well, "", now)); }
  void lose(const std::string& host) { take(policy.host_lost(host, "connection reset", now)); }
  void report(int generation) { take(policy.failure_reported(generation, "rank 1 does not answer", now)); }
  void start(WorkerId worker) { take(policy.worker_started(worker, now)); }

  // As time goes by, the policy is called when it wants to be.
  void run_for(std::chrono::nanoseconds time) {
    const Time end = Deadline::after(now, time).at;
    while (wake && *wake <= end) {
      now = std::max(now, *wake);
      wake.reset();
      take(policy.pass(now));
    }
    now = end;
  }

  std::string world_text() const {  // "g2: 0@a 3@b"
    std::string text = fmt::format("g{}:", world.generation);
    for (const WorldMember& member : world.members) text += fmt::format(" {}@{}", member.worker, member.host);
    return text;
  }

  bool starts_by_itself = true;
  Time now = {std::uint64_t{3'600'000'000'000}};
  ElasticPolicy policy;
  PublishWorld world = {.generation = -1, .members = {}};
  std::vector<StartWorker> started;
  std::vector<WorkerId> stopped;
  bool is_finished = false;
  std::string given_up;
  std::optional<Time> wake;

 private:
  void take(const Actions& actions) {
    std::vector<WorkerId> begun;
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartWorker>(&action)) {
        started.push_back(*start);
        begun.push_back(start->worker);
      }
      if (const auto* stop = std::get_if<StopWorker>(&action)) stopped.push_back(stop->worker);
      if (const auto* publish = std::get_if<PublishWorld>(&action)) world = *publish;
      if (std::holds_alternative<Finish>(action)) is_finished = true;
      if (const auto* up = std::get_if<GiveUp>(&action)) given_up = up->why;
      if (const auto* wait = std::get_if<WaitUntil>(&action)) wake = wait->at;
    }
    if (!starts_by_itself) return;
    for (const WorkerId worker : begun) start(worker);
  }
};

PolicySettings between(Rank least, Rank most) {
  PolicySettings settings;
  settings.ranks_min = least;
  settings.ranks_max = most;
  settings.hosts_may_come = true;
  return settings;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ElasticPolicy, TheFirstWorldHasAllSlotsInOrderUpToTheMost) {
  Job job(between(2, 5));
  job.find({{"a", 2}, {"b", 4}});
  EXPECT_EQ(job.world_text(), "g0: 0@a 1@a 2@b 3@b 4@b");
  EXPECT_EQ(job.started[3], (StartWorker{.worker = 3, .host = "b", .slot = 1, .generation = 0, .rank = 3, .size = 5}));
}

TEST(ElasticPolicy, NothingStartsBeforeThereAreEnoughSlots) {
  Job job(between(3, 5));
  job.find({{"a", 2}});
  EXPECT_TRUE(job.started.empty());
  EXPECT_TRUE(says(job.policy.waits_for(job.now), "needs 3 ranks at least (--min-np) and can have 2"));
  job.find({{"a", 2}, {"b", 1}});
  EXPECT_EQ(job.world_text(), "g0: 0@a 1@a 2@b");
  EXPECT_EQ(job.policy.waits_for(job.now), "");
}

TEST(ElasticPolicy, AWorldIsPublishedOnceAllItsWorkersHaveStarted) {
  Job job(between(1, 2));
  job.starts_by_itself = false;
  job.find({{"a", 2}});
  job.start(1);
  EXPECT_EQ(job.world.generation, -1);
  job.start(0);
  EXPECT_EQ(job.world_text(), "g0: 0@a 1@a");
}

TEST(ElasticPolicy, SurvivorsKeepTheirOrderAndAReplacementComesBehindThem) {
  Job job(between(2, 3));
  job.find({{"a", 3}});
  job.fail(0, "signal 9");
  EXPECT_EQ(job.world.generation, 0);  // others may follow
  job.run_for(1s);
  EXPECT_EQ(job.world_text(), "g1: 1@a 2@a 3@a");
  EXPECT_EQ(job.world.members[2].slot, 0);
  EXPECT_EQ(job.world.members[2].joined, 1);
  EXPECT_EQ(job.world.members[0].joined, 0);
}

TEST(ElasticPolicy, SurvivorsDoNotWaitForeverForAReplacementThatIsSlow) {
  Job job(between(1, 2));
  job.find({{"a", 1}, {"b", 1}});
  job.starts_by_itself = false;
  job.fail(1);
  job.run_for(5s);
  EXPECT_EQ(job.world.generation, 0);
  job.run_for(10s);
  EXPECT_EQ(job.world_text(), "g1: 0@a");
  job.start(2);
  job.run_for(30s);
  EXPECT_EQ(job.world_text(), "g2: 0@a 2@b");
}

TEST(ElasticPolicy, ALateReplacementNeverComesBeforeThoseWhoHaveTheState) {
  Job job(between(1, 3));
  job.find({{"a", 1}, {"b", 1}, {"c", 1}});
  job.starts_by_itself = false;
  job.fail(2);
  job.run_for(1s);  // worker 3 starts on c
  job.fail(1);
  job.run_for(1s);  // worker 4 on b
  job.start(4);
  job.run_for(12s);
  EXPECT_EQ(job.world_text(), "g1: 0@a 4@b");
  job.start(3);
  job.run_for(12s);
  EXPECT_EQ(job.world_text(), "g2: 0@a 4@b 3@c");
}

TEST(ElasticPolicy, OneWorkerThatFailsDoesNotCondemnItsHostButThreeInARowDo) {
  Job job(between(1, 2));
  job.find({{"a", 1}, {"b", 1}});
  job.fail(1);
  job.run_for(1s);
  job.fail(2);
  job.run_for(1s);
  EXPECT_EQ(job.world_text(), "g2: 0@a 3@b");
  job.fail(3);
  job.run_for(60s);
  EXPECT_EQ(job.world_text(), "g3: 0@a");
}

TEST(ElasticPolicy, WhatFailsAfterTheFirstIsAConsequence) {
  Job job(between(1, 4));
  job.find({{"a", 4}});
  for (const WorkerId worker : {0, 1, 2, 3}) job.fail(worker);
  job.run_for(1s);
  EXPECT_EQ(job.world_text(), "g1: 4@a 5@a 6@a 7@a");
}

TEST(ElasticPolicy, ALostHostIsLeftOutForGoodWithoutACooldown) {
  Job job(between(1, 4));
  job.find({{"a", 2}, {"b", 2}});
  job.lose("b");
  job.run_for(1h);
  EXPECT_EQ(job.world_text(), "g1: 0@a 1@a");
}

TEST(ElasticPolicy, ALostHostComesBackAfterItsCooldown) {
  PolicySettings settings = between(1, 4);
  settings.cooldown = {.min = 20s, .max = 300s};
  Job job(settings);
  job.find({{"a", 2}, {"b", 2}});
  job.lose("b");
  job.run_for(19s);
  EXPECT_EQ(job.world_text(), "g1: 0@a 1@a");
  job.run_for(60s);
  EXPECT_EQ(job.world_text(), "g2: 0@a 1@a 4@b 5@b");
}

TEST(ElasticPolicy, HostsThatComeTogetherComeIntoOneWorldAndNotAtOnce) {
  Job job(between(1, 9));
  job.find({{"a", 1}});
  job.run_for(60s);
  job.find({{"a", 1}, {"b", 1}});
  job.run_for(1s);
  EXPECT_EQ(job.world.generation, 0);
  job.find({{"a", 1}, {"b", 1}, {"c", 1}});
  job.run_for(2s);
  EXPECT_EQ(job.world_text(), "g1: 0@a 1@b 2@c");
  job.find({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
  job.run_for(5s);
  EXPECT_EQ(job.world.generation, 1);
  job.run_for(6s);
  EXPECT_EQ(job.world_text(), "g2: 0@a 1@b 2@c 3@d");
}

TEST(ElasticPolicy, WorkersOnAHostThatIsTakenAwayAreToldAndThenStopped) {
  Job job(between(1, 4));
  job.find({{"a", 2}, {"b", 2}});
  job.find({{"b", 2}});
  job.run_for(3s);
  EXPECT_EQ(job.world_text(), "g1: 2@b 3@b");
  EXPECT_TRUE(job.stopped.empty());
  job.end_well(0);  // it has seen that it is not part of the new world, which says nothing about the job
  job.run_for(10s);
  EXPECT_EQ(job.stopped, std::vector<WorkerId>{1});
  EXPECT_FALSE(job.is_finished);
}

TEST(ElasticPolicy, AWorldThatIsWholeGoesOnWhenItsHostsAreTakenAwayAndNoneReplaceThem) {
  Job job(between(2, 4));
  job.find({{"a", 1}, {"b", 1}});
  job.find({{"a", 1}});
  job.run_for(2h);
  EXPECT_EQ(job.world.generation, 0);
  EXPECT_EQ(job.given_up, "");
  EXPECT_TRUE(job.stopped.empty());
  job.find({{"a", 1}, {"c", 1}});
  job.run_for(5s);
  EXPECT_EQ(job.world_text(), "g1: 0@a 2@c");
}

TEST(ElasticPolicy, GivesUpWithNumbersAndReasonsWhenTooFewAreLeftForTooLong) {
  Job job(between(2, 4));
  job.find({{"a", 1}, {"b", 1}});
  job.lose("b");
  job.run_for(599s);
  EXPECT_EQ(job.given_up, "");
  job.run_for(2s);
  EXPECT_TRUE(says(job.given_up, "needs 2 ranks at least (--min-np) and can have 1, on 1 of 2 known hosts"));
  EXPECT_TRUE(says(job.given_up, "blacklisted: b for good (lost: connection reset)"));
  EXPECT_TRUE(says(job.given_up, "waited 600 s (--elastic-timeout)"));
  EXPECT_EQ(job.stopped, std::vector<WorkerId>{0});  // the survivor, which would wait for ever
}

TEST(ElasticPolicy, DoesNotWaitForHostsThatCannotCome) {
  PolicySettings settings = between(2, 4);
  settings.hosts_may_come = false;
  Job job(settings);
  job.find({{"a", 1}, {"b", 1}});
  job.lose("b");
  job.run_for(1s);
  EXPECT_TRUE(says(job.given_up, "no other hosts can come")) << job.given_up;
}

TEST(ElasticPolicy, AProgramThatCannotBeStartedEndsTheJobAndIsNamed) {
  PolicySettings settings = between(1, 4);
  settings.hosts_may_come = false;
  Job job(settings);
  job.starts_by_itself = false;
  job.find({{"a", 1}});
  job.now.ns += 1;
  job.run_for(0s);
  const auto actions = job.policy.worker_ended(0, Ending::not_started, "no such file: train", job.now);
  ASSERT_FALSE(actions.empty());
  EXPECT_TRUE(says(std::get<GiveUp>(actions.back()).why, "no such file: train"));
}

TEST(ElasticPolicy, ResetsAreCountedForFailuresAndNotForGrowth) {
  PolicySettings settings = between(1, 4);
  settings.resets_max = 1;
  Job job(settings);
  job.find({{"a", 1}});
  job.run_for(1min);
  job.find({{"a", 2}});
  job.run_for(1min);
  job.find({{"a", 3}});
  job.run_for(1min);
  EXPECT_EQ(job.world.generation, 2);
  job.fail(2);
  job.run_for(1min);
  EXPECT_EQ(job.world.generation, 3);
  EXPECT_EQ(job.given_up, "");
  job.fail(1, "signal 11");
  EXPECT_TRUE(says(job.given_up, "--restarts")) << job.given_up;
  EXPECT_TRUE(says(job.given_up, "worker 1 on a: signal 11")) << job.given_up;
}

TEST(ElasticPolicy, IsFinishedWhenAllOfTheWorldHaveEndedWell) {
  Job job(between(2, 2));
  job.find({{"a", 2}});
  job.end_well(1);
  EXPECT_FALSE(job.is_finished);
  job.find({{"a", 2}, {"b", 2}});
  job.run_for(1min);
  EXPECT_EQ(job.world.generation, 0);  // nothing grows that is about to end
  job.end_well(0);
  EXPECT_TRUE(job.is_finished);
}

TEST(ElasticPolicy, AFailureAfterOthersHaveEndedWellIsTheJobs) {
  Job job(between(1, 2));
  job.find({{"a", 2}});
  job.end_well(1);
  job.fail(0, "signal 6");
  EXPECT_TRUE(says(job.given_up, "worker 0 on a: signal 6")) << job.given_up;
}

TEST(ElasticPolicy, WhoWaitsForAWorldAfterOthersHaveEndedWellDoesNotWaitForEver) {
  Job job(between(1, 2));
  job.find({{"a", 2}});
  job.end_well(1);
  job.report(0);
  EXPECT_TRUE(says(job.given_up, "rank 1 does not answer")) << job.given_up;
  EXPECT_EQ(job.stopped, std::vector<WorkerId>{0});
}

TEST(ElasticPolicy, ProgramsThatWaitForNoWorldMayEndBeforeThereIsOne) {
  Job job(between(2, 2));
  job.starts_by_itself = false;
  job.find({{"a", 2}});
  job.start(0);
  job.end_well(0);
  job.start(1);
  job.end_well(1);
  EXPECT_TRUE(job.is_finished);
}

TEST(ElasticPolicy, AReportOfItsRanksBreaksAWorldOnceAndNotAnOlderOne) {
  Job job(between(2, 2));
  job.find({{"a", 2}});
  job.report(0);
  job.run_for(1s);
  EXPECT_EQ(job.world_text(), "g1: 0@a 1@a");
  job.report(0);
  job.run_for(1min);
  EXPECT_EQ(job.world.generation, 1);
}

TEST(ElasticPolicy, WorldsThatFailOneAfterTheOtherComeMoreAndMoreSlowly) {
  Job job(between(2, 2));
  job.find({{"a", 2}});
  for (int second = 0; second < 600; ++second) {
    job.report(job.world.generation);
    job.run_for(1s);
  }
  EXPECT_GT(job.world.generation, 10);
  EXPECT_LT(job.world.generation, 40);
}

TEST(ElasticPolicy, AHostThatLosesSlotsPartsWithItsNewestWorkers) {
  Job job(between(1, 4));
  job.find({{"a", 3}});
  job.find({{"a", 1}});
  job.run_for(3s);
  EXPECT_EQ(job.world_text(), "g1: 0@a");
  job.run_for(10s);
  EXPECT_EQ(job.stopped, (std::vector<WorkerId>{1, 2}));
}

TEST(ElasticPolicy, AWorkerThatDoesNotStartInTimeCountsAgainstItsHost) {
  Job job(between(1, 2));
  job.starts_by_itself = false;
  job.find({{"a", 1}, {"b", 1}});
  job.start(0);
  job.run_for(61s);
  EXPECT_EQ(job.world_text(), "g0: 0@a");
  EXPECT_EQ(job.stopped, std::vector<WorkerId>{1});
}

TEST(Blacklist, DoublesWithJitterBetweenTheLeastAndTheMost) {
  Blacklist blacklist({.min = 10s, .max = 100s}, 7);
  Time now{1};
  std::uint64_t most_s = 20;
  for (int round = 0; round < 6; ++round) {
    blacklist.add("a", "lost", now);
    const std::uint64_t waited_s = (blacklist.next_end(now)->ns - now.ns) / 1'000'000'000;
    EXPECT_GE(waited_s, std::max<std::uint64_t>(10, most_s / 2)) << round;
    EXPECT_LE(waited_s, most_s) << round;
    now = *blacklist.next_end(now);
    EXPECT_FALSE(blacklist.has("a", now));
    most_s = std::min<std::uint64_t>(100, most_s * 2);
  }
}

}  // namespace
}  // namespace tutti::launch
