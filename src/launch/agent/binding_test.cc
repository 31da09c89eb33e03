#include "launch/agent/binding.h"

#include <gtest/gtest.h>

#include "launch/agent/rank_environment.h"

namespace tutti::launch {
namespace {

// Two sockets of four cores with two threads each, numbered as most machines do: second threads come last.
std::vector<os::CpuPlace> machine() {
  std::vector<os::CpuPlace> places;
  for (int cpu = 0; cpu < 16; ++cpu)
    places.push_back({.cpu = cpu, .core = cpu % 8, .socket = cpu % 8 / 4, .numa = cpu % 8 / 4});
  return places;
}

TEST(Binding, DividesCoresEvenlyAmongRanks) {
  const Bindings bindings = bind_ranks(machine(), 4, BindPolicy::core);
  ASSERT_EQ(bindings.by_local_rank.size(), 4u);
  EXPECT_EQ(bindings.by_local_rank[0],
            (Binding{.cpus = {0, 1, 8, 9}, .core_count = 2, .text = "cores 0-1 (threads 0-1,8-9)"}));
  EXPECT_EQ(bindings.by_local_rank[3].cpus, (std::vector<int>{6, 7, 14, 15}));
  EXPECT_EQ(bindings.note, "");
}

TEST(Binding, NamesCoresWithoutThreadsBriefly) {
  const std::vector<os::CpuPlace> places = {{.cpu = 2, .core = 2}, {.cpu = 3, .core = 3}, {.cpu = 5, .core = 5}};
  EXPECT_EQ(bind_ranks(places, 1, BindPolicy::core).by_local_rank[0].text, "cores 2-3,5");
  EXPECT_EQ(bind_ranks(places, 3, BindPolicy::core).by_local_rank[2].text, "core 5");
  EXPECT_EQ(bind_ranks(places, 2, BindPolicy::core).by_local_rank[1].cpus, std::vector<int>{3}) << "evenly";
}

TEST(Binding, RanksShareASocket) {
  const Bindings bindings = bind_ranks(machine(), 4, BindPolicy::socket);
  EXPECT_EQ(bindings.by_local_rank[1].text, "socket 0, cores 0-3 (threads 0-3,8-11)");
  EXPECT_EQ(bindings.by_local_rank[1].core_count, 2);
  EXPECT_EQ(bindings.by_local_rank[2].text, "socket 1, cores 4-7 (threads 4-7,12-15)");
  EXPECT_EQ(bind_ranks(machine(), 1, BindPolicy::numa).by_local_rank[0].text,
            "numa node 0, cores 0-3 (threads 0-3,8-11)");
}

TEST(Binding, MoreRanksThanCoresAreNotBound) {
  const Bindings bindings = bind_ranks(machine(), 9, BindPolicy::core);
  EXPECT_NE(bindings.note.find("9 of them and 8 cores"), std::string::npos) << bindings.note;
  for (const Binding& binding : bindings.by_local_rank) EXPECT_EQ(binding, Binding{});
}

TEST(Binding, NobodyIsBoundUnlessTold) {
  const Bindings bindings = bind_ranks(machine(), 2, BindPolicy::none);
  EXPECT_EQ(bindings.by_local_rank, std::vector<Binding>(2));
  EXPECT_EQ(bindings.note, "");
}

TEST(RankEnvironment, LaterVariablesWin) {
  const Order order{.environment = {{"A", "order"}, {"B", "order"}}, .inherits_environment = true, .local_size = 2};
  const RankOrder rank{.rank = 0, .local_rank = 0, .variables = {{"B", "rank"}}};
  const HostEnvironment host{.own = {"A=own", "B=own", "C=x=y"}, .usable_cores = 8};
  EXPECT_EQ(*environment_of(order, rank, {}, host),
            (std::vector<std::string>{"A=order", "B=rank", "C=x=y", "OMP_NUM_THREADS=4"}));
}

TEST(RankEnvironment, ThreadsAreThoseOfTheBindingUnlessSomebodySaysOtherwise) {
  const HostEnvironment host{.own = {"OMP_NUM_THREADS=7"}, .usable_cores = 2};
  const Order order{.local_size = 4};
  EXPECT_EQ(*environment_of(order, {}, {.cpus = {0}, .core_count = 3}, host),
            std::vector<std::string>{"OMP_NUM_THREADS=3"});
  EXPECT_EQ(*environment_of(order, {}, {}, host), std::vector<std::string>{"OMP_NUM_THREADS=1"});
  const Order inheriting{.inherits_environment = true, .local_size = 4};
  EXPECT_EQ(*environment_of(inheriting, {}, {}, host), std::vector<std::string>{"OMP_NUM_THREADS=7"});
}

TEST(RankEnvironment, DevicesAreDividedInTheirOrder) {
  EXPECT_EQ(*devices_of(1, 2, 8, std::nullopt), "2,3");
  EXPECT_EQ(*devices_of(1, 1, 8, "7,GPU-5,1"), "GPU-5");
  const auto few = devices_of(1, 2, 3, std::nullopt);
  ASSERT_FALSE(few);
  EXPECT_NE(few.status().text().find("needs devices 2 to 3 of this host, which has 3"), std::string_view::npos)
      << few.status().text();
}

TEST(RankEnvironment, WithoutGpusVirtualDevicesAreDivided) {
  Order order{.environment = {{"TUTTI_VIRTUAL_DEVICES", "2"}, {"OMP_NUM_THREADS", "1"}}, .devices_per_rank = 1};
  EXPECT_EQ(environment_of(order, {.local_rank = 1}, {}, {})->back(), "CUDA_VISIBLE_DEVICES=1");
  EXPECT_FALSE(environment_of(order, {.local_rank = 2}, {}, {}));
  EXPECT_EQ(environment_of(order, {.local_rank = 2}, {}, {.gpu_count = 4})->back(), "CUDA_VISIBLE_DEVICES=2");
}

}  // namespace
}  // namespace tutti::launch
