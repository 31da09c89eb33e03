#include "launch/host_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

std::string parsed(std::string_view text, int standard_slots = 1) {
  const auto hosts = parse_host_file(text, standard_slots);
  if (!hosts) return std::string(hosts.status().text());
  std::string result;
  for (const Host& host : *hosts) {
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", host.name, host.slots);
    if (host.slots_max > 0) result += fmt::format("/{}", host.slots_max);
  }
  return result;
}

void expect_refused(std::string_view text, std::string_view part) {
  const auto hosts = parse_host_file(text);
  ASSERT_FALSE(hosts) << text;
  EXPECT_NE(hosts.status().text().find(part), std::string_view::npos) << hosts.status().text();
}

TEST(HostFile, HasOpenMpisForm) {
  EXPECT_EQ(parsed("# our machines\nb slots=4 max_slots=8\n\na slots=2  # the small one\nc max-slots=3\nd\n"),
            "b=4/8 a=2 c=1/3 d=1");
}

TEST(HostFile, HasMpichsForm) { EXPECT_EQ(parsed("host1:4\nhost2:2\r\n  [fe80::1]:3\n"), "host1=4 host2=2 fe80::1=3"); }

TEST(HostFile, ExpandsSlurmsForm) { EXPECT_EQ(parsed("gpu[1-2,7] slots=4"), "gpu1=4 gpu2=4 gpu7=4"); }

TEST(HostFile, AddsUpTheSlotsOfAHost) { EXPECT_EQ(parsed("a\na\nb:2\na slots=2"), "a=4 b=2"); }

TEST(HostFile, GivesHostsWithoutANumberTheStandard) { EXPECT_EQ(parsed("a\nb:2", 8), "a=8 b=2"); }

TEST(HostFile, NamesTheLineOfAFault) {
  expect_refused("a\n\n-x slots=4\n", "line 3: '-x' is no name of a host");
  expect_refused("a slots=many", "line 1: 'many' is no number of slots");
  expect_refused("a\nb slot=4", "line 2: 'slot=4' is not known behind a host");
  expect_refused("a:4 slots=4", "two numbers of slots");
  expect_refused("a 4", "'4' is not known");
  expect_refused("a slots=8 max_slots=4", "line 1: host a has 8 slots, but max_slots=4");
  expect_refused("a;reboot", "line 1");
}

TEST(HostFile, NamesAHostAtLeast) {
  expect_refused("", "it names no host");
  expect_refused("# nothing\n\n", "it names no host");
}

TEST(HostFile, TakesTenThousandHosts) {
  std::string text;
  for (int index = 0; index < 10'000; ++index) text += fmt::format("node{} slots=8\n", index);
  const auto hosts = parse_host_file(text);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts->size(), 10'000u);
}

}  // namespace
}  // namespace tutti::launch
