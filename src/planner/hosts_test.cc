#include "planner/hosts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tutti/check.h"
#include "tutti/simulate.h"

namespace tutti::planner {
namespace {

using plan::Collective;
using plan::Reach;

Cluster cluster_of(const std::vector<Rank>& sizes, double bytes_per_s = 125e6) {
  Cluster cluster;
  cluster.machine.cores = 8;
  cluster.machine.outbox_bytes = 4 << 20;
  cluster.network_bytes_per_s = bytes_per_s;
  for (std::size_t host = 0; host < sizes.size(); ++host) {
    cluster.host_of.insert(cluster.host_of.end(), static_cast<std::size_t>(sizes[host]),
                           static_cast<std::uint32_t>(host));
  }
  return cluster;
}

Request request_of(Collective collective, std::uint64_t bytes) {
  return {.collective = collective, .elements = bytes / 4, .peer = 1};
}

const std::vector<std::vector<Rank>> kSizes = {{1, 1}, {2, 2}, {3, 2}, {1, 4}, {4, 4, 4}, {2, 1, 3, 2}};

// The cluster for the simulator: a link of each host in each direction, and a memory of each rank.
class ClusterModel : public plan::Model {
 public:
  explicit ClusterModel(const Cluster& cluster) : cluster_(cluster) {}
  std::size_t link_count() const override { return 2 * cluster_.host_of.size() + cluster_.host_of.size(); }
  double bytes_per_s(std::uint32_t link) const override {
    return link < 2 * cluster_.host_of.size() ? cluster_.network_bytes_per_s : cluster_.machine.load_bytes_per_s;
  }
  std::string link_name(std::uint32_t link) const override { return std::to_string(link); }
  plan::Route route(Rank from, Rank to, std::uint32_t) const override {
    const auto ranks = static_cast<std::uint32_t>(cluster_.host_of.size());
    const std::uint32_t source = cluster_.host_of[static_cast<std::size_t>(from)];
    const std::uint32_t target = cluster_.host_of[static_cast<std::size_t>(to)];
    if (source != target) return {{source, ranks + target}, cluster_.network_latency_s + cluster_.network_message_s};
    const double latency_s = from == to ? 0 : cluster_.machine.signal_s;
    return {{2 * ranks + static_cast<std::uint32_t>(from)}, latency_s};
  }
  double launch_s() const override { return 0; }
  double step_s() const override { return cluster_.machine.step_s; }

 private:
  const Cluster& cluster_;
};

double simulated_s(const Cluster& cluster, const Request& request, const Candidate& candidate) {
  const auto plan = plan::build(*candidate.algorithm, candidate.shape);
  const auto timeline = plan::simulate(*plan, ClusterModel(cluster),
                                       {.elements = request.elements,
                                        .element_bytes = request.element_bytes,
                                        .tile_bytes = candidate.tile_bytes,
                                        .record_spans = false});
  EXPECT_TRUE(timeline) << timeline.status().text();
  return timeline ? timeline->total_s : std::numeric_limits<double>::infinity();
}

// The simulator knows no cores and shares links in another way, so it is a witness, not a judge.
TEST(HostPlans, AreNearTheBestOfTheirRivalsInTheSimulatorsTime) {
  // The simulator lets nobody read a message before all of it was sent, so plans with many hops look slow there.
  constexpr double kFactor = 1.6;
  for (const auto& sizes : kSizes) {
    const Cluster cluster = cluster_of(sizes);
    for (const Collective collective : plan::kCollectives) {
      for (const std::uint64_t bytes : {64, 16 << 10, 256 << 10, 8 << 20}) {
        const Request request = request_of(collective, bytes);
        const auto ranked = rank_hosts(cluster, request, Reach::stage);
        ASSERT_FALSE(ranked.empty()) << plan::name_of(collective);
        double best = std::numeric_limits<double>::infinity();
        std::string_view best_name;
        for (const Candidate& candidate : ranked) {
          const double seconds = simulated_s(cluster, request, candidate);
          if (seconds < best) best_name = candidate.algorithm->name;
          best = std::min(best, seconds);
        }
        EXPECT_LE(simulated_s(cluster, request, ranked[0]), kFactor * best)
            << explain_hosts(cluster, request, ranked) << "\nbytes: " << bytes << ", best: " << best_name;
      }
    }
  }
}

TEST(HostPlans, OfSmallSumsHaveOneLeaderOnEachHostAndOneRound) {
  for (const auto& sizes : {std::vector<Rank>{2, 2}, {4, 4}, {1, 4, 3}}) {
    const auto ranked = rank_hosts(cluster_of(sizes), request_of(Collective::all_reduce, 1024), Reach::stage);
    EXPECT_EQ(ranked[0].algorithm->name, "leader_pairwise");
    EXPECT_EQ(ranked[0].shape.lanes, 1u);
  }
}

TEST(HostPlans, OfLargeSumsSendLittleMoreThanTheLeastOverEachLink) {
  for (const auto& sizes : {std::vector<Rank>{2, 2}, {4, 4, 4}, {4, 2, 3, 4}}) {
    const Cluster cluster = cluster_of(sizes);
    const std::uint64_t bytes = 64 << 20;
    const auto ranked = rank_hosts(cluster, request_of(Collective::all_reduce, bytes), Reach::stage);
    const double hosts = static_cast<double>(sizes.size());
    const double least_s = 2 * (hosts - 1) / hosts * static_cast<double>(bytes) / cluster.network_bytes_per_s;
    EXPECT_GE(ranked[0].estimate_s, least_s);
    EXPECT_LE(ranked[0].estimate_s, 1.05 * least_s) << ranked[0].algorithm->name;
  }
}

TEST(HostPlans, HandOverLessWhereRanksOutnumberCores) {
  Cluster crowded = cluster_of({4, 4}, 10e9);
  crowded.machine.cores = 1;
  crowded.machine.switch_s = 5e-6;
  crowded.network_latency_s = 5e-6;
  const Request request = request_of(Collective::all_reduce, 64);
  const auto alone = rank_hosts(cluster_of({4, 4}, 10e9), request, Reach::stage);
  const auto shared = rank_hosts(crowded, request, Reach::stage);
  EXPECT_EQ(shared[0].algorithm->name, "leader_pairwise");
  const auto estimate_of = [](const std::vector<Candidate>& ranked, std::string_view name) {
    return std::find_if(ranked.begin(), ranked.end(), [&](const Candidate& c) { return c.algorithm->name == name; })
        ->estimate_s;
  };
  // Three neighbours before and after the leader, on one core.
  EXPECT_GT(estimate_of(shared, "leader_pairwise"), 6 * crowded.machine.switch_s);
  EXPECT_GT(estimate_of(shared, "hierarchical_ring"), estimate_of(shared, "leader_pairwise"));
}

TEST(HostPlans, ExistForEveryCollectiveAndReachAndAreProved) {
  for (const auto& sizes : kSizes) {
    for (const Collective collective : plan::kCollectives) {
      for (const Reach reach : plan::kReaches) {
        const auto ranked = rank_hosts(cluster_of(sizes), request_of(collective, 100000), reach);
        ASSERT_FALSE(ranked.empty()) << plan::name_of(collective) << " with reach " << plan::name_of(reach);
        EXPECT_LE(ranked[0].shape.reach, reach);
        const auto plan = plan::build(*ranked[0].algorithm, ranked[0].shape);
        ASSERT_TRUE(plan) << plan.status().text();
        EXPECT_TRUE(std::holds_alternative<plan::Proof>(plan::check(*plan)));
      }
    }
  }
}

TEST(HostPlans, AreTheSameHoweverHostsAreNumbered) {
  const Cluster first = cluster_of({2, 3});
  Cluster second = first;
  for (std::uint32_t& host : second.host_of) host = 1000 - host * 7;
  for (const std::uint64_t bytes : {64, 1 << 20}) {
    const Request request = request_of(Collective::all_reduce, bytes);
    EXPECT_EQ(explain_hosts(first, request, rank_hosts(first, request, Reach::stage)),
              explain_hosts(second, request, rank_hosts(second, request, Reach::stage)));
  }
}

TEST(HostPlans, AreReadOnlyInTheFormsThatCanWinOnManyRanks) {
  const Cluster large = cluster_of(std::vector<Rank>(8, 8));
  for (const Candidate& candidate : rank_hosts(large, request_of(Collective::all_reduce, 1 << 20), Reach::stage)) {
    EXPECT_EQ(candidate.shape.reach, Reach::stage) << candidate.algorithm->name;
  }
  EXPECT_FALSE(rank_hosts(large, request_of(Collective::all_to_all, 64), Reach::stage).empty());
}

TEST(HostPlans, HaveATwinForBuffersThatCanBeReachedWithTheSameTiles) {
  const Cluster cluster = cluster_of({3, 2});
  const Request request = request_of(Collective::all_reduce, 8 << 20);
  int twins = 0;
  for (const Candidate& staged : rank_hosts(cluster, request, Reach::stage)) {
    const auto full = twin_of(staged, Reach::full);
    ASSERT_EQ(full.has_value(), staged.shape.reach == Reach::stage) << staged.algorithm->name;
    if (!full) continue;
    ++twins;
    EXPECT_EQ(full->shape.reach, Reach::full);
    EXPECT_EQ(full->tile_bytes, staged.tile_bytes);
    EXPECT_EQ(twin_of(*full, Reach::stage)->shape.reach, Reach::stage);
    EXPECT_FALSE(twin_of(*full, Reach::none));
  }
  EXPECT_GT(twins, 5);
  for (const Candidate& full : rank_hosts(cluster, request, Reach::full)) {
    for (const Candidate& staged : rank_hosts(cluster, request, Reach::stage)) {
      const bool is_pair = full.algorithm == staged.algorithm && full.shape.lanes == staged.shape.lanes;
      EXPECT_TRUE(!is_pair || full.tile_bytes == staged.tile_bytes) << full.algorithm->name;
    }
  }
}

TEST(HostPlans, AreExplainedWithTheirRivals) {
  const Cluster cluster = cluster_of({2, 2});
  const Request request = request_of(Collective::all_reduce, 1024);
  const std::string text = explain_hosts(cluster, request, rank_hosts(cluster, request, Reach::stage));
  EXPECT_EQ(text.find("leader_pairwise through stages all_reduce over 4 ranks on 2 hosts: "), 0u) << text;
  EXPECT_NE(text.find("hierarchical_ring through stages would take"), std::string::npos) << text;
  EXPECT_EQ(explain_hosts(cluster, request, {}), "no algorithm fits");
}

// Ranks that each complete the same sum would round it differently.
TEST(HostPlans, OfRoundedSumsHaveOnePlaceForEachThatIsComplete) {
  for (const auto& sizes : kSizes) {
    const Cluster cluster = cluster_of(sizes);
    for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
      Request request = request_of(collective, 1 << 20);
      const auto exact = rank_hosts(cluster, request, Reach::stage);
      request.wire_element_bytes = 2;
      const auto rounded = rank_hosts(cluster, request, Reach::stage);
      ASSERT_FALSE(rounded.empty()) << plan::name_of(collective);
      std::set<std::string_view> missing;
      for (const Candidate& candidate : exact) missing.insert(candidate.algorithm->name);
      for (const Candidate& candidate : rounded) missing.erase(candidate.algorithm->name);
      std::set<std::string_view> expected;
      if (collective == Collective::all_reduce) expected = {"pairwise"};
      if (collective == Collective::all_reduce && cluster.ranks() > 2) expected.insert("leader_pairwise");
      EXPECT_EQ(missing, expected) << plan::name_of(collective) << " over " << cluster.ranks();
    }
  }
}

TEST(HostPlans, OfHalfTheBytesTakeAboutHalfTheTimeOfASlowNetwork) {
  const Cluster cluster = cluster_of({2, 2}, 12.5e6);
  Request request = request_of(Collective::all_reduce, 8 << 20);
  const double exact_s = rank_hosts(cluster, request, Reach::stage)[0].estimate_s;
  request.wire_element_bytes = 2;
  const double rounded_s = rank_hosts(cluster, request, Reach::stage)[0].estimate_s;
  EXPECT_NEAR(rounded_s / exact_s, 0.5, 0.1);
}

}  // namespace
}  // namespace tutti::planner
