#include "launch/variables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "bootstrap/env/launch.h"

namespace tutti::launch {
namespace {

constexpr std::string_view kStore = "tcp:tutti1-abc";

Layout layout_of(const std::vector<int>& slots) {
  std::vector<Host> hosts;
  for (const int count : slots) hosts.push_back({fmt::format("gpu{}", hosts.size()), count});
  const auto layout = lay_out(hosts, {});
  EXPECT_TRUE(layout) << layout.status().text();
  return layout ? *layout : Layout{};
}

WorldFacts facts_of(const Layout& layout) {
  WorldFacts facts{.job = "k3f9", .store = std::string(kStore)};
  for (HostIndex host = 0; host < layout.hosts.size(); ++host) {
    HostFacts of_host{.address = fmt::format("10.0.0.{}", host + 1)};
    for (Rank rank = 0; rank <= layout.local_size(host); ++rank) {
      of_host.ports.push_back(static_cast<std::uint16_t>(4000 + rank));
    }
    facts.hosts.push_back(std::move(of_host));
  }
  return facts;
}

using Map = std::map<std::string, std::string, std::less<>>;

Map variables_in(const Layout& layout, Rank rank, const Variables& user = {}) {
  const auto variables = variables_of(layout, facts_of(layout), layout.seats[static_cast<std::size_t>(rank)], user);
  Map map(variables.begin(), variables.end());
  EXPECT_EQ(map.size(), variables.size()) << "a name stands there twice";
  return map;
}

void expect_understood(const Layout& layout, Rank rank) {
  const Map map = variables_in(layout, rank);
  const auto launch = bootstrap::launch_of([&](std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  });
  ASSERT_TRUE(launch) << launch.status().text();
  ASSERT_TRUE(*launch);
  const auto& seat = layout.seats[static_cast<std::size_t>(rank)];
  EXPECT_EQ((*launch)->launcher, "tutti run");
  EXPECT_EQ((*launch)->rank, rank);
  EXPECT_EQ((*launch)->size, layout.size());
  EXPECT_EQ((*launch)->local_rank, seat.local_rank);
  EXPECT_EQ((*launch)->local_size, layout.local_size(seat.host));
  EXPECT_TRUE((*launch)->has_local_place);
  EXPECT_EQ((*launch)->store, kStore);
}

TEST(Variables, AreUnderstoodAsThoseOfTuttiRun) {
  for (const auto& slots : {std::vector{1}, {4}, {1, 1, 1}, {2, 3}, {4, 4}, {1, 2, 1}}) {
    const Layout layout = layout_of(slots);
    for (Rank rank = 0; rank < layout.size(); ++rank) expect_understood(layout, rank);
  }
}

TEST(Variables, SpeakTheWordsOfEveryFramework) {
  const Map map = variables_in(layout_of({2, 3}), 3);
  const Map expected = {
      {"TUTTI_RANK", "3"},
      {"TUTTI_SIZE", "5"},
      {"TUTTI_LOCAL_RANK", "1"},
      {"TUTTI_LOCAL_SIZE", "3"},
      {"TUTTI_STORE", "tcp:tutti1-abc"},
      {"TUTTI_JOB", "k3f9"},
      {"TUTTI_JOB_ID", "k3f9"},
      {"RANK", "3"},
      {"WORLD_SIZE", "5"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "3"},
      {"GROUP_RANK", "1"},
      {"GROUP_WORLD_SIZE", "2"},
      {"NODE_RANK", "1"},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", "3"},
      {"ROLE_WORLD_SIZE", "5"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "4002"},
      {"TORCHELASTIC_RUN_ID", "k3f9"},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"HOROVOD_RANK", "3"},
      {"HOROVOD_SIZE", "5"},
      {"HOROVOD_LOCAL_RANK", "1"},
      {"HOROVOD_LOCAL_SIZE", "3"},
      {"HOROVOD_CROSS_RANK", "1"},
      {"HOROVOD_CROSS_SIZE", "2"},
      {"HOROVOD_HOSTNAME", "gpu1"},
      {"HOROVOD_CONTROLLER", "gloo"},
      {"HOROVOD_CPU_OPERATIONS", "gloo"},
      {"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_SIZE", "5"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},
      {"PMI_RANK", "3"},
      {"PMI_SIZE", "5"},
      {"MPI_LOCALRANKID", "1"},
      {"MPI_LOCALNRANKS", "3"},
      {"TF_CONFIG", R"({"cluster":{"worker":["10.0.0.1:4000","10.0.0.1:4001","10.0.0.2:4000","10.0.0.2:4001",)"
                    R"("10.0.0.2:4002"]},"task":{"index":3,"type":"worker"}})"}};
  EXPECT_EQ(map, expected);
}

TEST(Variables, CountRanksAcrossHostsThatHaveThem) {
  const Map map = variables_in(layout_of({1, 3, 3}), 6);  // local rank 2 of the last host
  EXPECT_EQ(map.at("HOROVOD_CROSS_RANK"), "1");
  EXPECT_EQ(map.at("HOROVOD_CROSS_SIZE"), "2");
}

TEST(Variables, GiveWayToTheUsers) {
  const Layout layout = layout_of({2});
  const Map map = variables_in(layout, 0, {{"MASTER_PORT", "29500"}, {"TF_CONFIG", ""}, {"OTHER", "x"}});
  EXPECT_FALSE(map.contains("MASTER_PORT"));
  EXPECT_FALSE(map.contains("TF_CONFIG"));
  EXPECT_FALSE(map.contains("OTHER"));
  EXPECT_TRUE(map.contains("MASTER_ADDR"));
}

TEST(Variables, GiveEveryRankOfAHostAVirtualDevice) {
  EXPECT_FALSE(variables_in(layout_of({8}), 0).contains("TUTTI_VIRTUAL_DEVICES"));
  EXPECT_EQ(variables_in(layout_of({9, 1}), 0).at("TUTTI_VIRTUAL_DEVICES"), "9");
  EXPECT_FALSE(variables_in(layout_of({9, 1}), 9).contains("TUTTI_VIRTUAL_DEVICES"));
  EXPECT_FALSE(variables_in(layout_of({9}), 0, {{"TUTTI_VIRTUAL_DEVICES", "2"}}).contains("TUTTI_VIRTUAL_DEVICES"));
  EXPECT_EQ(variables_in(layout_of({2000}), 0).at("TUTTI_VIRTUAL_DEVICES"), "1024");
}

TEST(Variables, KeepTensorFlowsConfigReadable) {
  const Layout layout = layout_of({2});
  WorldFacts facts = facts_of(layout);
  facts.hosts[0].address = "fe80::1";
  const auto variables = variables_of(layout, facts, layout.seats[1], {});
  const Map map(variables.begin(), variables.end());
  const auto config = nlohmann::json::parse(map.at("TF_CONFIG"), nullptr, false);
  ASSERT_TRUE(config.is_object());
  EXPECT_EQ(config["cluster"]["worker"][1], "[fe80::1]:4001");
  EXPECT_EQ(config["task"]["index"], 1);
}

TEST(Variables, LeaveOutAConfigThatNoProgramCouldStartWith) {
  const Map map = variables_in(layout_of(std::vector<int>(100, 100)), 0);
  EXPECT_FALSE(map.contains("TF_CONFIG"));
  EXPECT_EQ(map.at("WORLD_SIZE"), "10000");
}

}  // namespace
}  // namespace tutti::launch
