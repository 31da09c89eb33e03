#include "bootstrap/env/hostlist.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

std::string expanded(std::string_view list) {
  const auto hosts = hosts_of(list);
  return hosts ? fmt::format("{}", fmt::join(*hosts, " ")) : std::string(hosts.status().text());
}

TEST(HostList, HasAllFormsThatSlurmWrites) {
  EXPECT_EQ(expanded("login"), "login");
  EXPECT_EQ(expanded("a,b.example.org,c-1"), "a b.example.org c-1");
  EXPECT_EQ(expanded("gpu[12-13,20]"), "gpu12 gpu13 gpu20");
  EXPECT_EQ(expanded("gpu[12-13,20],login,b[1]"), "gpu12 gpu13 gpu20 login b1");
  EXPECT_EQ(expanded("n[1-2]-ib"), "n1-ib n2-ib");
  EXPECT_EQ(expanded("[1-3]"), "1 2 3");
  EXPECT_EQ(expanded("a, b"), "a b");
}

TEST(HostList, KeepsTheZerosBeforeNumbers) {
  EXPECT_EQ(expanded("n[08-11]"), "n08 n09 n10 n11");
  EXPECT_EQ(expanded("n[099-101]"), "n099 n100 n101");
  EXPECT_EQ(expanded("n[9-11]"), "n9 n10 n11");
  EXPECT_EQ(expanded("n[99-0101]"), "n99 n100 n101");
}

TEST(HostList, CountsTheLastBracketFastest) {
  EXPECT_EQ(expanded("b[01-02]-x[1-2]"), "b01-x1 b01-x2 b02-x1 b02-x2");
  EXPECT_EQ(expanded("[1-2][3-4]"), "13 14 23 24");
}

TEST(HostList, RefusesWhatIsNoneInASentence) {
  const auto refused = [](std::string_view list, std::string_view why) {
    const auto hosts = hosts_of(list);
    ASSERT_FALSE(hosts) << list;
    EXPECT_EQ(hosts.status().code(), Code::invalid_argument);
    EXPECT_NE(hosts.status().text().find(why), std::string_view::npos) << hosts.status().text();
  };
  refused("", "a name is empty");
  refused("a,,b", "a name is empty");
  refused("a,", "a name is empty");
  refused("gpu[1-3", "a bracket is not closed");
  refused("gpu1-3]", "closes that was not opened");
  refused("gpu[3-1]", "the range 3-1 goes backwards");
  refused("gpu[]", "is no number and no range");
  refused("gpu[1-]", "is no number and no range");
  refused("gpu[a-b]", "is no number and no range");
  refused("gpu[-3]", "is no number and no range");
  refused("gpu[1[2]]", "is no number and no range");
  refused("gpu[1-99999999999999999999]", "is no number and no range");
  refused("a b", "no blanks");
  refused(std::string(300, 'a'), "at most 255 letters");
}

TEST(HostList, IsBounded) {
  EXPECT_EQ(hosts_of("n[0-9999]")->size(), 10'000u);
  EXPECT_EQ(hosts_of("n[1-65536]")->size(), kHostsMax);
  for (const char* list : {"n[0-65536]", "n[1-65536],m", "n[0-999999999999999999]", "n[1-300]-[1-300]",
                           "n[0-999999999999999999,0-999999999999999999][0-999999999999999999]"}) {
    const auto hosts = hosts_of(list);
    ASSERT_FALSE(hosts) << list;
    EXPECT_NE(hosts.status().text().find("more than 65536 hosts"), std::string_view::npos) << hosts.status().text();
  }
}

TEST(TasksPerHost, AreRepeated) {
  EXPECT_EQ(*tasks_per_host_of("2"), (std::vector<Rank>{2}));
  EXPECT_EQ(*tasks_per_host_of("2(x3),1"), (std::vector<Rank>{2, 2, 2, 1}));
  EXPECT_EQ(*tasks_per_host_of("1,3(x2)"), (std::vector<Rank>{1, 3, 3}));
}

TEST(TasksPerHost, RefuseWhatIsNone) {
  for (const char* list :
       {"", "x", "0", "-1", "2(x", "2(x3", "2(x)", "2(x0)", "2(x70000)", "1(x65536),1", "2(3)", "2,"}) {
    EXPECT_FALSE(tasks_per_host_of(list)) << list;
  }
}

}  // namespace
}  // namespace tutti::bootstrap
