#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tutti/planner.h"

namespace tutti::planner {

namespace {

using Names = std::vector<std::string>;

topology::Topology topology_of(std::string_view text) {
  auto topology = topology::parse(text);
  EXPECT_TRUE(topology) << topology.status().text();
  return topology ? *std::move(topology) : topology::Topology();
}

topology::Topology sample(const std::string& name) {
  auto topology = topology::read_file(std::string(TUTTI_SOURCE_DIR) + "/share/topologies/" + name);
  EXPECT_TRUE(topology) << topology.status().text();
  return topology ? *std::move(topology) : topology::Topology();
}

Names names_of(const plan::Model& model, const plan::Route& route) {
  Names names;
  for (const std::uint32_t link : route.links) names.push_back(model.link_name(link));
  return names;
}

TEST(Model, RoutesThroughASwitchInEachDirection) {
  const auto model = create_model(sample("a100x8.topo"));
  const auto route = model->route(2, 5, 0);
  EXPECT_EQ(names_of(*model, route), (Names{"node.gpu2>nvswitch", "node.nvswitch>gpu5"}));
  EXPECT_DOUBLE_EQ(route.latency_s, 2e-6);
  EXPECT_DOUBLE_EQ(model->bytes_per_s(route.links[0]), 249e9);
  EXPECT_EQ(names_of(*model, model->route(5, 2, 0)), (Names{"node.gpu5>nvswitch", "node.nvswitch>gpu2"}));
  EXPECT_EQ(names_of(*model, model->route(3, 3, 0)), (Names{"node.gpu3 memory"}));
  EXPECT_DOUBLE_EQ(model->bytes_per_s(model->route(3, 3, 0).links[0]), 1300e9);
  EXPECT_DOUBLE_EQ(model->launch_s(), 15e-6);
  EXPECT_DOUBLE_EQ(model->step_s(), 0.5e-6);
  EXPECT_EQ(model->link_count(), 8u * 2 + 8);
}

TEST(Model, CoresOfOneMemoryShareItsBackplane) {
  const auto model = create_model(sample("laptop.topo"));
  EXPECT_EQ(names_of(*model, model->route(0, 7, 3)),
            (Names{"laptop.core0>dram", "laptop.dram backplane", "laptop.dram>core7"}));
  EXPECT_DOUBLE_EQ(model->route(0, 7, 3).latency_s, 0.1e-6);
  EXPECT_EQ(names_of(*model, model->route(4, 4, 0)), (Names{"laptop.core4>dram", "laptop.dram backplane"}));
}

TEST(Model, PrefersNvlinkAndFallsBackToPcie) {
  const auto model = create_model(sample("v100x8.topo"));
  EXPECT_EQ(names_of(*model, model->route(0, 3, 0)), (Names{"dgx.gpu0>gpu3"}));
  EXPECT_DOUBLE_EQ(model->bytes_per_s(model->route(0, 3, 0).links[0]), 46.8e9);
  EXPECT_DOUBLE_EQ(model->bytes_per_s(model->route(3, 1, 0).links[0]), 23.4e9);
  EXPECT_EQ(names_of(*model, model->route(0, 7, 0)),
            (Names{"dgx.gpu0>plx0", "dgx.plx0>bridge", "dgx.bridge>plx3", "dgx.plx3>gpu7"}));
  EXPECT_DOUBLE_EQ(model->route(0, 7, 0).latency_s, 6e-6);
}

TEST(Model, EveryV100HasSixCables) {
  const auto topology = sample("v100x8.topo");
  const topology::HostKind& kind = topology.kinds[0];
  std::vector<double> sum(kind.vertices.size());
  for (const topology::Link& link : kind.links) {
    if (kind.vertices[link.b].kind != topology::VertexKind::device) continue;
    sum[link.a] += link.bytes_per_s;
    sum[link.b] += link.bytes_per_s;
  }
  for (const std::uint32_t device : kind.devices) EXPECT_NEAR(sum[device], 6 * 23.4e9, 1);
}

TEST(Model, LanesTakeTurnsAtTheNearestCards) {
  const auto model = create_model(sample("a100x16.topo"));
  EXPECT_EQ(names_of(*model, model->route(3, 8, 0)),
            (Names{"node0.gpu3>mlx6", "node0.mlx6>leaf", "leaf>node1.mlx0", "node1.mlx0>gpu0"}));
  EXPECT_EQ(names_of(*model, model->route(3, 8, 5)),
            (Names{"node0.gpu3>mlx7", "node0.mlx7>leaf", "leaf>node1.mlx1", "node1.mlx1>gpu0"}));
  EXPECT_NEAR(model->route(3, 8, 0).latency_s, 3e-6, 1e-15);
  EXPECT_DOUBLE_EQ(model->bytes_per_s(model->route(3, 8, 0).links[1]), 4.47e9);
}

TEST(Model, LeavesOutUplinksThatCannotBeTheBottleneck) {
  const auto model = create_model(sample("h100x4096.topo"));
  const auto route = model->route(0, 4095, 0);
  EXPECT_EQ(names_of(*model, route),
            (Names{"node0.gpu0>mlx0", "node0.mlx0>leaf0", "leaf15>node511.mlx7", "node511.mlx7>gpu7"}));
  EXPECT_NEAR(route.latency_s, (0.5 + 0.75 + 0.3 + 0.3 + 0.75 + 0.5) * 1e-6, 1e-15);
  EXPECT_NEAR(model->route(0, 8, 0).latency_s, 2.5e-6, 1e-15);
}

constexpr std::string_view kThreeLevels = R"(
  host n[0-7]
    device cpu memory=10GB/s
    nic eth
    link cpu eth bandwidth=1GB/s latency=1us
  network
    switch leaf[0-3]
    switch pod[0-1]
    switch root
    link n[0-7] leaf[0-3] bandwidth=1GB/s latency=1us
    link leaf[0-3] pod[0-1] bandwidth=1.5GB/s latency=10us
    link pod[0-1] root bandwidth=3GB/s latency=100us
)";

TEST(Model, ClimbsToTheLowestCommonSwitchOnly) {
  const auto model = create_model(topology_of(kThreeLevels));
  EXPECT_EQ(names_of(*model, model->route(0, 1, 0)),
            (Names{"n0.cpu>eth", "n0.eth>leaf0", "leaf0>n1.eth", "n1.eth>cpu"}));
  EXPECT_EQ(names_of(*model, model->route(0, 2, 0)),
            (Names{"n0.cpu>eth", "n0.eth>leaf0", "leaf0>pod0", "pod0>leaf1", "leaf1>n2.eth", "n2.eth>cpu"}));
  EXPECT_NEAR(model->route(0, 2, 0).latency_s, 24e-6, 1e-12);
  // A pod passes on 3 GB/s, as much as its two leafs can send: its uplink is left out, its latency is not.
  EXPECT_EQ(names_of(*model, model->route(7, 0, 0)),
            (Names{"n7.cpu>eth", "n7.eth>leaf3", "leaf3>pod1", "pod0>leaf0", "leaf0>n0.eth", "n0.eth>cpu"}));
  EXPECT_NEAR(model->route(7, 0, 0).latency_s, 224e-6, 1e-12);
}

TEST(Model, PrefersLatencyThenBandwidthThenFewerHops) {
  const auto model = create_model(topology_of(R"(
    host h
      device a,b memory=10GB/s
      switch slow,wide,narrow,far[0-1]
      link a,b slow bandwidth=90GB/s latency=9us
      link a,b narrow bandwidth=1GB/s latency=1us
      link a,b wide bandwidth=2GB/s latency=1us
      link a far0 bandwidth=2GB/s latency=0.5us
      link far0 far1 bandwidth=2GB/s latency=0.5us
      link far1 b bandwidth=2GB/s latency=1us)"));
  EXPECT_EQ(names_of(*model, model->route(0, 1, 0)), (Names{"h.a>wide", "h.wide>b"}));
}

TEST(Model, NeverRoutesThroughADeviceOrACard) {
  const auto model = create_model(topology_of(R"(
    host h
      device a,b,c memory=10GB/s
      switch pcie
      nic n
      link a,b,c pcie bandwidth=1GB/s latency=50us
      link a b bandwidth=9GB/s latency=1us
      link b c bandwidth=9GB/s latency=1us
      link a,c n bandwidth=9GB/s latency=1us)"));
  EXPECT_EQ(names_of(*model, model->route(0, 2, 0)), (Names{"h.a>pcie", "h.pcie>c"}));
}

TEST(Model, SharedLinksAreOneForBothDirections) {
  const auto model = create_model(topology_of(R"(
    host h
      device a,b memory=10GB/s
      link a b bandwidth=1GB/s shared)"));
  EXPECT_EQ(names_of(*model, model->route(0, 1, 0)), (Names{"h.a<>b"}));
  EXPECT_EQ(model->route(0, 1, 0).links, model->route(1, 0, 0).links);
  EXPECT_EQ(model->link_count(), 3u);
}

TEST(Model, HostsOfDifferentKindsMeet) {
  const auto model = create_model(topology_of(R"(
    host big
      device g[0-1] memory=1GB/s
      switch s bandwidth=5GB/s
      nic m
      link g[0-1] s bandwidth=2GB/s latency=1us
      link s m bandwidth=2GB/s latency=1us
    host small
      device cpu memory=dram
      switch dram
      nic eth
      link cpu dram bandwidth=3GB/s
      link cpu eth bandwidth=1GB/s
    network
      switch top
      link big,small top bandwidth=1GB/s)"));
  EXPECT_EQ(names_of(*model, model->route(2, 1, 9)),
            (Names{"small.cpu>eth", "small.eth>top", "top>big.m", "big.m>s", "big.s backplane", "big.s>g1"}));
  EXPECT_EQ(names_of(*model, model->route(1, 2, 9)),
            (Names{"big.g1>s", "big.s backplane", "big.s>m", "big.m>top", "top>small.eth", "small.eth>cpu"}));
  EXPECT_EQ(names_of(*model, model->route(2, 2, 0)), (Names{"small.cpu>dram"}));
}

TEST(Model, EveryLinkHasANameAndABandwidth) {
  for (const auto& topology : {sample("a100x16.topo"), sample("laptop.topo"), topology_of(kThreeLevels)}) {
    const auto model = create_model(topology);
    Names names;
    for (std::uint32_t link = 0; link < model->link_count(); ++link) {
      names.push_back(model->link_name(link));
      EXPECT_GT(model->bytes_per_s(link), 0) << names.back();
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
}

TEST(Model, TakesSixtyFiveThousandDevices) {
  const auto model = create_model(topology_of(R"(
    host node[0-8191]
      device gpu[0-7] memory=1TB/s
      switch s
      nic m[0-7]
      link gpu[0-7] s bandwidth=300GB/s
      link gpu[0-7] m[0-7] bandwidth=50GB/s
    network
      switch leaf[0-255],spine
      link node[0-8191] leaf[0-255] bandwidth=50GB/s latency=1us
      link leaf[0-255] spine bandwidth=6400GB/s latency=1us)"));
  EXPECT_EQ(names_of(*model, model->route(65535, 0, 0)),
            (Names{"node8191.gpu7>m7", "node8191.m7>leaf255", "leaf255>spine", "spine>leaf0", "leaf0>node0.m0",
                   "node0.m0>gpu0"}));
}

}  // namespace

}  // namespace tutti::planner
