#include "launch/host_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launch/host_table.h"

namespace tutti::launch {
namespace {

// "a:4 b:2", or the failure.
std::string text_of(const Result<std::vector<Host>>& hosts) {
  if (!hosts) return std::string(hosts.status().text());
  std::string text;
  for (const Host& host : *hosts) text += fmt::format("{}{}={}", text.empty() ? "" : " ", host.name, host.slots);
  return text;
}
std::string parsed(std::string_view list, int standard_slots = 1) {
  return text_of(parse_host_list(list, standard_slots));
}

void expect_refused(std::string_view list, std::string_view part) {
  const auto hosts = parse_host_list(list);
  ASSERT_FALSE(hosts) << list;
  EXPECT_NE(hosts.status().text().find(part), std::string_view::npos) << hosts.status().text();
  EXPECT_EQ(hosts.status().text().find('\n'), std::string_view::npos);
}

TEST(HostList, HasNamesWithSlots) {
  EXPECT_EQ(parsed("host1:4,host2:2"), "host1=4 host2=2");
  EXPECT_EQ(parsed("localhost"), "localhost=1");
  EXPECT_EQ(parsed("a, b:3 ,10.0.0.1:2"), "a=1 b=3 10.0.0.1=2");
}

TEST(HostList, GivesHostsWithoutANumberTheStandard) { EXPECT_EQ(parsed("a,b:2", 8), "a=8 b=2"); }

TEST(HostList, AddsUpTheSlotsOfAHost) { EXPECT_EQ(parsed("a,b:2,a,a:4"), "a=6 b=2"); }

TEST(HostList, TakesUsersAndAddressesInBrackets) {
  EXPECT_EQ(parsed("me@gpu1:4"), "me@gpu1=4");
  EXPECT_EQ(parsed("[fe80::1]:4,[::1]"), "fe80::1=4 ::1=1");
  EXPECT_EQ(parsed("me@[fe80::1%eth0]:2"), "me@fe80::1%eth0=2");
}

TEST(HostList, ExpandsSlurmsForm) {
  EXPECT_EQ(parsed("gpu[12-13,20]:4,login"), "gpu12=4 gpu13=4 gpu20=4 login=1");
  EXPECT_EQ(parsed("r[1-2]n[01-02]"), "r1n01=1 r1n02=1 r2n01=1 r2n02=1");
  EXPECT_EQ(parsed("me@gpu[1-2]-ib:2"), "me@gpu1-ib=2 me@gpu2-ib=2");
}

TEST(HostList, RefusesNamesThatWouldBeSomethingElse) {
  expect_refused("-oProxyCommand=x", "do not begin with '-'");
  expect_refused("me@-x", "do not begin with '-'");
  expect_refused("-l@host", "do not begin with '-'");
  for (const char* name : {"a b", "a;b", "$(id)", "a`id`", "a|b", "a>b", "a\tb", "a\nb", "a\x01", "a'b", "a\"b", "a/b",
                           "a*", "a\\b", "a@b@c", "h\xc3\xb6st"}) {
    expect_refused(name, "is no name of a host");
  }
  expect_refused(std::string(256, 'a'), "255 are the most");
  expect_refused("@host", "empty");
  expect_refused("me@", "empty");
}

TEST(HostList, RefusesWhatIsNoList) {
  expect_refused("", "empty name");
  expect_refused("a,,b", "empty name");
  expect_refused("a,", "empty name");
  expect_refused("a:0", "'0' is no number of slots");
  expect_refused("a:-1", "'-1' is no number of slots");
  expect_refused("a:x", "host a: 'x' is no number of slots");
  expect_refused("a:70000", "from 1 to 65536");
  expect_refused("a:", "no number of slots after the colon");
  expect_refused("fe80::1", "in brackets");
  expect_refused("[::1]x:4", "behind the bracket");
  expect_refused("gpu[1-2", "not closed");
  expect_refused("gpu[2-1]", "backwards");
  expect_refused("gpu[1-99999999]", "more than");
  expect_refused("a:65536,a", "more than 65536 slots");
}

TEST(HostList, TakesTenThousandHosts) {
  std::string list;
  for (int index = 0; index < 10'000; ++index) list += fmt::format("{}node{}:8", index == 0 ? "" : ",", index);
  const auto hosts = parse_host_list(list);
  ASSERT_TRUE(hosts) << hosts.status().text();
  EXPECT_EQ(hosts->size(), 10'000u);
  EXPECT_EQ(hosts->back(), (Host{.name = "node9999", .slots = 8}));
}

TEST(HostList, HasALimit) {
  expect_refused("a[1-60000],b[1-60000]", "more than 100000 hosts");
  EXPECT_TRUE(parse_host_list("a[1-50000],b[1-50000]"));
}

}  // namespace
}  // namespace tutti::launch
