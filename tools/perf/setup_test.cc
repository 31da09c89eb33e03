#include "tools/perf/setup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <regex>

namespace tutti::perf {
namespace {

// A variable for as long as this lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_.c_str()); }

 private:
  std::string name_;
};

std::optional<int> color(const std::string& split, int process) {
  const Variable variable("NCCL_TESTS_SPLIT", split);
  const auto result = color_of(process);
  return result ? std::optional(*result) : std::nullopt;
}

TEST(Split, PutsAllProcessesTogetherUnlessAsked) { EXPECT_EQ(*color_of(7), 0); }

TEST(Split, IsWrittenInWordsAndInSigns) {
  for (const char* split : {"MOD 4", "mod 4", "%4", "% 4", "MOD4", "MOD 0x4", "MOD 0b100"})
    EXPECT_EQ(color(split, 6), 2) << split;
  for (const char* split : {"DIV 4", "/4", "Div 4"}) EXPECT_EQ(color(split, 9), 2) << split;
  for (const char* split : {"AND 0x6", "&6", "AND 0b110"}) EXPECT_EQ(color(split, 7), 6) << split;
  for (const char* split : {"OR 8", "|8"}) EXPECT_EQ(color(split, 1), 9) << split;
}

TEST(Split, ThatMakesNoSenseIsNamed) {
  for (const char* split : {"XOR 4", "MOD", "MOD x", "MOD 0", "/0", "4", "MOD 4 5"})
    EXPECT_EQ(color(split, 3), std::nullopt) << "'" << split << "'";
  const Variable variable("NCCL_TESTS_SPLIT", "XOR 4");
  EXPECT_EQ(color_of(0).status().text(),
            "NCCL_TESTS_SPLIT='XOR 4': write AND, OR, MOD or DIV and a number, as in 'MOD 8'");
}

TEST(Split, MaskIsHexadecimalAndGoesFirst) {
  const Variable split("NCCL_TESTS_SPLIT", "MOD 2");
  for (const char* text : {"0x7", "7"}) {
    const Variable mask("NCCL_TESTS_SPLIT_MASK", text);
    EXPECT_EQ(*color_of(13), 5) << text;
  }
  const Variable mask("NCCL_TESTS_SPLIT_MASK", "seven");
  EXPECT_EQ(color_of(13).status().text(), "NCCL_TESTS_SPLIT_MASK=seven: give a hexadecimal number");
}

TEST(Seats, ComeBackFromTheirText) {
  const std::vector<Seat> seats = {
      {.rank = 0, .pid = 17, .host = "node-1", .bus = "0000:0f:00", .name = "Device One"},
      {.rank = 5, .group = 2, .pid = 18, .host = "node-2", .device = 3, .bus = "b", .name = "x"}};
  EXPECT_EQ(parse_seats(seats_text(seats)), seats);
  EXPECT_TRUE(parse_seats("").empty());
  EXPECT_TRUE(parse_seats("half a line\t3").empty());
}

TEST(Seats, AreTheDevicesAfterThoseOfOtherProcesses) {
  const auto seats = seats_of({.process = 3, .local_process = 1, .group = 1, .count = 2});
  ASSERT_TRUE(seats) << seats.status().text();
  ASSERT_EQ(seats->size(), 2u);
  EXPECT_EQ((*seats)[0].rank, 6);
  EXPECT_EQ((*seats)[0].device, 2);
  EXPECT_EQ((*seats)[1].device, 3);
  EXPECT_EQ((*seats)[1].group, 1);
}

TEST(Seats, BeginAtTheDeviceThatNcclTestsDeviceNames) {
  const Variable first("NCCL_TESTS_DEVICE", "5");
  const auto seats = seats_of({.process = 0, .local_process = 1, .count = 2});
  ASSERT_TRUE(seats) << seats.status().text();
  EXPECT_EQ((*seats)[0].device, 5);
  const Variable wrong("NCCL_TESTS_DEVICE", "five");
  EXPECT_EQ(seats_of({}).status().text(), "NCCL_TESTS_DEVICE=five: give the number of the first device");
}

TEST(Seats, ThatAreTooManyAreCounted) {
  const auto seats = seats_of({.local_process = 2, .count = 4});
  ASSERT_FALSE(seats);
  EXPECT_EQ(seats.status().code(), Code::unsupported);
  EXPECT_EQ(seats.status().text(),
            "12 devices are needed on this host, but there are 8; use fewer (-t, -g, processes), or set "
            "TUTTI_VIRTUAL_DEVICES=12 where they are virtual");
}

TEST(Setup, TellsSettingsAndNoSecrets) {
  const Variable secret("TUTTI_JOB_SECRET", "hush");
  const Variable other("SECRET_TOKEN", "hush");
  const Variable token("NCCL_TESTS_TOKEN", "hush");
  const Variable password("TUTTI_PASSWORD", "hush");
  const Variable id("NCCL_COMM_ID", "hush");
  const Variable setting("NCCL_IB_GID_INDEX", "3");
  const perf::Setup setup = describe_run("all_reduce_perf", {"all_reduce_perf", "-b", "8"}, {});
  bool has_setting = false;
  for (const auto& [name, value] : setup.settings) {
    EXPECT_EQ(value.find("hush"), std::string::npos) << name;
    EXPECT_NE(name, "SECRET_TOKEN");
    has_setting = has_setting || (name == "NCCL_IB_GID_INDEX" && value == "3");
  }
  EXPECT_TRUE(has_setting);
}

TEST(Setup, SaysWhenAndOnWhat) {
  const perf::Setup setup = describe_run("all_reduce_perf", {"all_reduce_perf"}, {});
  EXPECT_TRUE(std::regex_match(setup.started, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"))) << setup.started;
  EXPECT_TRUE(std::regex_match(local_time(), std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"))) << local_time();
  EXPECT_TRUE(std::regex_search(setup.processor, std::regex(R"(^\d+ cores?)"))) << setup.processor;
  EXPECT_TRUE(setup.library.starts_with("Tutti ")) << setup.library;
  EXPECT_GT(setup.library_version, 20000);
}

}  // namespace
}  // namespace tutti::perf
