#include "launch/world.h"

#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

using Names = std::vector<std::string>;

Layout two_hosts(const std::string& one, const std::string& other) {
  return {.hosts = {{.name = one, .slots = 2}, {.name = other, .slots = 1}},
          .seats = {{.rank = 0, .host = 0, .local_rank = 0},
                    {.rank = 1, .host = 0, .local_rank = 1},
                    {.rank = 2, .host = 1, .local_rank = 0}}};
}

TEST(ThisMachine, IsKnownByItsNames) {
  for (const char* name : {"localhost", "127.0.0.1", "::1", "gpu1", "gpu1.cluster.org"})
    EXPECT_TRUE(is_this_machine(name, "gpu1.cluster.org")) << name;
  EXPECT_TRUE(is_this_machine("gpu1.cluster.org", "gpu1"));
  for (const char* name : {"gpu12", "gpu1.other.org", "user@localhost", "10.0.0.1", ""})
    EXPECT_FALSE(is_this_machine(name, "gpu1.cluster.org")) << name;
  EXPECT_FALSE(is_this_machine("10.0.0.2", "10"));
}

TEST(Addresses, OfAJobOnThisMachineStayInside) {
  EXPECT_EQ(addresses_of({.starter = Starter::local}, two_hosts("gpu1", "localhost"), "gpu1"),
            (Names{"127.0.0.1", "127.0.0.1"}));
  EXPECT_EQ(addresses_of({.starter = Starter::ssh}, two_hosts("gpu1", "localhost"), "gpu1"),
            (Names{"127.0.0.1", "127.0.0.1"}));
}

TEST(Addresses, OfSeveralHostsAreNamesThatOthersKnow) {
  EXPECT_EQ(addresses_of({.starter = Starter::ssh}, two_hosts("localhost", "user@gpu2"), "gpu1"),
            (Names{"gpu1", "gpu2"}));
  EXPECT_EQ(addresses_of({.starter = Starter::slurm}, two_hosts("gpu1", "gpu2"), "gpu1"), (Names{"gpu1", "gpu2"}));
}

TEST(Orders, HaveTheRanksOfEachHost) {
  const Settings settings{.command = {"train"}, .folder = "/work", .environment = {{"A", "b"}}};
  const WorldFacts facts{.job = "k3f9",
                         .store = "tcp:tutti1-x",
                         .hosts = {{.address = "gpu1", .ports = {1, 2, 3}}, {.address = "gpu2", .ports = {4, 5}}}};
  const auto orders = orders_of(settings, two_hosts("gpu1", "gpu2"), facts);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].local_size, 2);
  ASSERT_EQ(orders[0].ranks.size(), 2u);
  ASSERT_EQ(orders[1].ranks.size(), 1u);
  EXPECT_EQ(orders[1].ranks[0].rank, 2);
  EXPECT_EQ(orders[1].folder, "/work");
  EXPECT_EQ(orders[1].environment, settings.environment);
}

TEST(Waiting, NamesSomeOfMany) {
  EXPECT_EQ(waiting_text(64, {"a", "b", "c"}), "waiting for 3 of 64 hosts: a, b, c");
  EXPECT_EQ(waiting_text(1, {"a"}), "waiting for 1 of 1 host: a");
  EXPECT_EQ(names_text(Names(10, "x")), "x, x, x, x, x, x, x, x and 2 more");
}

}  // namespace
}  // namespace tutti::launch
