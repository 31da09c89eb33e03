#include "launch/layout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

// "a:2 b:1": the ranks of each host.
std::string text_of(const Result<Layout>& layout) {
  if (!layout) return std::string(layout.status().text());
  std::string text;
  for (HostIndex host = 0; host < layout->hosts.size(); ++host) {
    text += fmt::format("{}{}:{}", host == 0 ? "" : " ", layout->hosts[host].name, layout->local_size(host));
  }
  return text;
}

const std::vector<Host> kTwo = {{"a", 4}, {"b", 4}};
const std::vector<Host> kThree = {{"a", 2}, {"b", 1}, {"c", 4}};

TEST(Layout, FillsHostsInOrder) {
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks = 6})), "a:4 b:2");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks = 4})), "a:2 b:1 c:1");
  const auto layout = lay_out(kThree, {.ranks = 4});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->seats[0], (Seat{.rank = 0, .host = 0, .local_rank = 0}));
  EXPECT_EQ(layout->seats[1], (Seat{.rank = 1, .host = 0, .local_rank = 1}));
  EXPECT_EQ(layout->seats[2], (Seat{.rank = 2, .host = 1, .local_rank = 0}));
  EXPECT_EQ(layout->seats[3], (Seat{.rank = 3, .host = 2, .local_rank = 0}));
}

TEST(Layout, HasNoHostWithoutRanks) { EXPECT_EQ(text_of(lay_out(kTwo, {.ranks = 3})), "a:3"); }

TEST(Layout, TakesAllSlotsWhereNothingIsAskedFor) { EXPECT_EQ(text_of(lay_out(kThree, {})), "a:2 b:1 c:4"); }

TEST(Layout, NamesBothNumbersAndTheRemedyWhenThereAreTooFewSlots) {
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks = 9})),
            "9 ranks are wanted, but 2 hosts have only 8 slots; give more with -H host:slots, or allow more ranks than "
            "slots with --oversubscribe");
  EXPECT_NE(text_of(lay_out(std::vector<Host>{{"a", 1}}, {.ranks = 2})).find("1 host has only 1 slot;"),
            std::string::npos);
}

TEST(Layout, SharesWhatIsBeyondTheSlots) {
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks = 12, .may_oversubscribe = true})), "a:4 b:3 c:5");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks = 5, .may_oversubscribe = true})), "a:2 b:1 c:2");
}

TEST(Layout, KeepsTheMostThatAHostTakes) {
  const std::vector<Host> hosts = {{.name = "a", .slots = 1, .slots_max = 2}, {.name = "b", .slots = 1}};
  EXPECT_EQ(text_of(lay_out(hosts, {.ranks = 8, .may_oversubscribe = true})), "a:2 b:6");
  const std::vector<Host> tight = {{.name = "a", .slots = 1, .slots_max = 2}};
  EXPECT_NE(text_of(lay_out(tight, {.ranks = 3, .may_oversubscribe = true})).find("take 2 at most"), std::string::npos);
}

TEST(Layout, PutsTheSameNumberOnEachHost) {
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks_per_host = 3})), "a:3 b:3");
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks = 5, .ranks_per_host = 3})), "a:3 b:2");
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks_per_host = 2, .host_count = 1})), "a:2");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks_per_host = 2})),
            "2 ranks on each host are wanted, but b has only 1 slot; write -H b:2, or allow more ranks than slots with "
            "--oversubscribe");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks_per_host = 2, .may_oversubscribe = true})), "a:2 b:2 c:2");
}

TEST(Layout, UsesExactlyTheHostsAskedFor) {
  EXPECT_EQ(text_of(lay_out(kTwo, {.ranks = 4, .host_count = 2})), "a:2 b:2");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks = 6, .host_count = 3})), "a:2 b:1 c:3");
  EXPECT_EQ(text_of(lay_out(kThree, {.host_count = 2})), "a:2 b:1");
  EXPECT_EQ(text_of(lay_out(kThree, {.ranks = 9, .host_count = 3, .may_oversubscribe = true})), "a:3 b:2 c:4");
}

TEST(Layout, RefusesNumbersThatContradictEachOther) {
  EXPECT_NE(text_of(lay_out(kTwo, {.ranks = 5, .ranks_per_host = 2, .host_count = 2})).find("are 4 ranks, but 5"),
            std::string::npos);
  EXPECT_NE(text_of(lay_out(kTwo, {.host_count = 3})).find("3 hosts are wanted, but only 2 are given"),
            std::string::npos);
  EXPECT_NE(text_of(lay_out(kTwo, {.ranks = 1, .host_count = 2})).find("1 rank cannot be on 2 hosts"),
            std::string::npos);
  EXPECT_NE(text_of(lay_out(kTwo, {.ranks = 9, .ranks_per_host = 4})).find("2 hosts with 4 each make only 8"),
            std::string::npos);
  EXPECT_NE(text_of(lay_out({}, {.ranks = 1})).find("no host"), std::string::npos);
  EXPECT_NE(text_of(lay_out(kTwo, {.ranks = -1})).find("from 1 to"), std::string::npos);
}

TEST(Layout, IsMadeForManyHostsAtOnce) {
  std::vector<Host> hosts;
  for (int index = 0; index < 10'000; ++index) hosts.push_back({fmt::format("n{}", index), 8});
  const auto layout = lay_out(hosts, {.ranks = 100'000, .may_oversubscribe = true});
  ASSERT_TRUE(layout) << layout.status().text();
  EXPECT_EQ(layout->size(), 100'000);
  EXPECT_EQ(layout->local_size(0), 10);
  EXPECT_EQ(layout->local_size(9'999), 10);
}

}  // namespace
}  // namespace tutti::launch
