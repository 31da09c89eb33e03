#include "tools/tutti/check/judgement.h"

#include <gtest/gtest.h>

#include "tools/tutti/check/cluster_for_test.h"
#include "tools/tutti/check/comparison.h"

namespace tutti::tool::check {
namespace {

std::vector<std::string> texts(const Cluster& cluster, const Tolerance& tolerance = {}) {
  std::vector<std::string> all;
  for (const Problem& problem : problems_of(cluster, tolerance)) all.push_back(problem.text);
  return all;
}
using Texts = std::vector<std::string>;

TEST(Judgement, FindsNothingWrongWithAGoodCluster) { EXPECT_EQ(texts(good_cluster(4)), Texts{}); }

TEST(Judgement, NamesHostsThatFailedInTheSameWordsTogether) {
  Cluster cluster = good_cluster(4);
  for (const std::size_t host : {1, 2}) {
    cluster.hosts[host].report.reset();
    cluster.hosts[host].failure = "ssh: Connection refused";
  }
  cluster.hosts[3].report.reset();
  EXPECT_EQ(texts(cluster), (Texts{"gpu[2-3]: ssh: Connection refused", "gpu4: has not reported"}));
}

TEST(Judgement, NamesVersionsThatDiffer) {
  Cluster cluster = good_cluster(3);
  cluster.hosts[0].report->facts[0].text = "0.2.0";
  EXPECT_EQ(texts(cluster), (Texts{"versions of Tutti differ: 0.1.0 on gpu[2-3], 0.2.0 on gpu1"}));
}

TEST(Judgement, ToleratesOtherDifferences) {
  Cluster cluster = good_cluster(3);
  cluster.hosts[1].report->facts[1].text = "32";
  EXPECT_EQ(texts(cluster), Texts{});
  const auto facts = compare_facts(cluster);
  EXPECT_TRUE(facts[0].is_common());
  ASSERT_FALSE(facts[1].is_common());
  EXPECT_EQ(facts[1].groups[0].text, "64") << "the most common first";
}

TEST(Judgement, NamesClocksThatAreFarApart) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 1).clock_offset_s = 0.9;
  EXPECT_EQ(texts(cluster), Texts{});
  pair_between(cluster, 0, 2).clock_offset_s = -0.2;
  EXPECT_EQ(texts(cluster), (Texts{"clocks are 1.1 s apart: gpu2 is ahead of gpu3"}));
}

TEST(Judgement, NamesTheSlowDirectionWithItsRatioToTheMedian) {
  Cluster cluster = good_cluster(4);
  pair_between(cluster, 1, 3).back_bytes_per_s = 1e9;
  EXPECT_EQ(texts(cluster), (Texts{"gpu4 -> gpu2: 1 GB/s, 0.33 of the median 3 GB/s"}));
  EXPECT_EQ(texts(cluster, {.bandwidth = 0.3}), Texts{});
}

TEST(Judgement, CountsPairsBeyondTheFirstFew) {
  Cluster cluster = good_cluster(9);
  for (Rank b = 1; b < 9; ++b) {
    pair_between(cluster, 0, b).there_bytes_per_s = 1e8 * b;
    pair_between(cluster, 0, b).back_bytes_per_s = 1e8 * b;
  }
  const Texts all = texts(cluster);
  ASSERT_EQ(all.size(), kPairsNamedMax + 1);
  EXPECT_EQ(all.back(), "6 more ways are below 0.50 of the median");
  EXPECT_EQ(all.front(), "gpu1 -> gpu2: 100 MB/s, 0.03 of the median 3 GB/s") << "the worst first";
}

TEST(Judgement, NamesPairsThatCouldNotBeMeasuredAndThingsThatAreMissing) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 2).failure = "no route";
  for (const std::size_t host : {0, 1}) {
    cluster.hosts[host].report->findings.push_back({State::missing, "sleeping", "no futex", "seccomp"});
    cluster.hosts[host].report->findings.push_back({State::slower, "clock", "nobody keeps it", "chrony"});
  }
  EXPECT_EQ(texts(cluster), (Texts{"gpu[1-2]: sleeping: no futex", "gpu1 and gpu3: no route"}));
  const auto shared = shared_findings(cluster);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].finding.what, "sleeping") << "what is missing first";
  EXPECT_EQ(shared[1].hosts, (std::vector<Rank>{0, 1}));
}

TEST(Judgement, NamesAHostThatNobodyCouldMeasureWithOnce) {
  Cluster cluster = good_cluster(4);
  for (const Rank other : {0, 1}) pair_between(cluster, other, 2).failure = "has stopped answering";
  pair_between(cluster, 2, 3).failure = "closed";
  EXPECT_EQ(texts(cluster), (Texts{"gpu3 could be measured with nobody: has stopped answering"}));
}

}  // namespace
}  // namespace tutti::tool::check
