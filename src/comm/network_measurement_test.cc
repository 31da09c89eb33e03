#include "comm/network_measurement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/decision.h"

namespace tutti::comm {
namespace {

const NetworkRates kSome{.latency_s = 5e-6, .bytes_per_s = 4e9, .message_s = 1e-6};

TEST(NetworkMeasurement, IsMadeWithFirstRanksOfAFewOtherHosts) {
  EXPECT_EQ(probe_partners({0, 1}), (std::vector<Rank>{1}));
  EXPECT_EQ(probe_partners({0, 0, 1, 1, 2, 0, 2}), (std::vector<Rank>{2, 4}));
  EXPECT_EQ(probe_partners({0, 1, 2, 3}), (std::vector<Rank>{1, 2, 3}));
  std::vector<Rank> many;
  for (Rank rank = 0; rank < 1000; ++rank) many.push_back(rank / 4);
  EXPECT_EQ(probe_partners(many), (std::vector<Rank>{4, 500, 996}));
}

TEST(NetworkMeasurement, IsToldToAllAsItIs) {
  for (const NetworkRates& rates : {kSome, NetworkRates{}}) {
    const auto told = parse_outcome(pack_outcome(rates));
    ASSERT_TRUE(told.is_ok()) << told.status().text();
    EXPECT_EQ(*told, rates);
  }
  const auto failure = parse_outcome(pack_outcome(Status(Code::peer_lost, "rank 3 has died")));
  EXPECT_EQ(failure.status().code(), Code::peer_lost);
  EXPECT_EQ(failure.status().text(), "rank 3 has died");
}

TEST(NetworkMeasurement, BelievesNoNonsense) {
  const Bytes good = pack_outcome(kSome);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parse_outcome(std::span(good).first(length)).is_ok()) << length;
  }
  Bytes other = good;
  other[0] = std::byte{200};  // no code
  EXPECT_FALSE(parse_outcome(other).is_ok());
  for (NetworkRates rates : {NetworkRates{.latency_s = -1, .bytes_per_s = 1e9},
                             NetworkRates{.latency_s = 1e-6, .bytes_per_s = std::numeric_limits<double>::infinity()},
                             NetworkRates{.latency_s = std::nan(""), .bytes_per_s = 1e9}}) {
    EXPECT_FALSE(parse_outcome(pack_outcome(rates)).is_ok());
  }
}

TEST(NetworkMeasurement, CountsTheSlowerOfTwoWaysInEveryRespect) {
  const NetworkRates slow = slower_of(kSome, {.latency_s = 7e-6, .bytes_per_s = 5e9, .message_s = 0.5e-6});
  EXPECT_EQ(slow, (NetworkRates{.latency_s = 7e-6, .bytes_per_s = 4e9, .message_s = 1e-6}));
}

TEST(NetworkMeasurement, SaysWhatIsAssumedWhereNothingIsKnown) {
  EXPECT_EQ(kSome.text(), "5 us one way, 4 GB/s, 1 us of a core per message");
  EXPECT_EQ(NetworkRates().text(), "not measured; 30 us one way and 1 GB/s are assumed");
}

TEST(NetworkMeasurement, DecidesOnPlans) {
  DecisionContext context;
  context.machine.ranks = 4;
  context.machine.cores = 8;
  context.machine.outbox_bytes = context.launch.outbox_bytes = 2 << 20;
  context.hosts = {0, 1, 2, 3};
  const auto plan = [&](const NetworkRates& network) {
    context.network = network;
    const auto decision = decide(context, {.count = 8 << 10});
    return decision ? decision->fallback->prepared->header.algorithm : std::string(decision.status().text());
  };
  // Few ways where they are long, few bytes where they are slow.
  const std::string far = plan({.latency_s = 1e-3, .bytes_per_s = 10e9, .message_s = 1e-6});
  const std::string slow = plan({.latency_s = 2e-6, .bytes_per_s = 10e6, .message_s = 0.3e-6});
  EXPECT_NE(far, slow);
  context.network = kSome;
  EXPECT_NE(explain(context, {.count = 8 << 10}).find("4 hosts"), std::string::npos);
}

}  // namespace
}  // namespace tutti::comm
