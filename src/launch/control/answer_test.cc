#include "launch/control/answer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "launch/control/fake_job_for_test.h"

namespace tutti::launch::control {
namespace {

constexpr Time kNow{5'000'000'000'000};

std::string_view without_end(const std::string& line) { return std::string_view(line).substr(0, line.size() - 1); }

TEST(ControlAnswer, BringsTheStatusOfAJobAsItWas) {
  JobStatus job = some_job();
  job.started = {kNow.ns - 61'250'000'000};
  job.ranks.push_back({.rank = 3, .host = "gpu2", .pid = 103, .state = RankState::ended, .code = 7});
  job.ranks.push_back({.rank = 4, .host = "gpu3", .state = RankState::lost});
  const std::string line = line_of({.job = job}, kNow);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto answer = parse_answer(without_end(line), kNow);
  ASSERT_TRUE(answer) << answer.status().text();
  ASSERT_TRUE(answer->job);
  EXPECT_EQ(*answer->job, job);
}

TEST(ControlAnswer, TellsAnAgeThatIsRightOnWhicheverClockItIsRead) {
  JobStatus job = some_job();
  job.started = {kNow.ns - 2'000'000'000};
  const auto answer = parse_answer(without_end(line_of({.job = job}, kNow)), {9'000'000'000});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->job->started, Time{7'000'000'000});
}

TEST(ControlAnswer, BringsARefusalWithItsReason) {
  const auto answer = parse_answer(without_end(line_of({.failure = invalid_argument("no rank 9")}, kNow)), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->failure.text(), "no rank 9");
  const auto done = parse_answer(without_end(line_of(Answer{}, kNow)), kNow);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->failure.is_ok());
  EXPECT_FALSE(done->job);
}

TEST(ControlAnswer, IsOneLineOfUtf8WhateverTheCommandIs) {
  JobStatus job = some_job();
  job.command = {"a\nb", "\xff\xfe", "\x1b[2J"};
  const std::string line = line_of({.job = job}, kNow);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto answer = parse_answer(without_end(line), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->job->command[0], "a\nb");
}

TEST(ControlAnswer, OfAnotherVersionOrShapeIsRefused) {
  EXPECT_FALSE(parse_answer("", kNow));
  EXPECT_FALSE(parse_answer("{\"answer\":\"maybe\"}", kNow));
  std::string line = line_of({.job = some_job()}, kNow);
  line.replace(line.find("\"version\":1"), 11, "\"version\":2");
  const auto answer = parse_answer(without_end(line), kNow);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.status().code(), Code::unsupported);
}

// Every field is described, and what the schema requires is there.
void expect_described(const nlohmann::json& value, const nlohmann::json& schema, const std::string& where) {
  if (schema.contains("enum")) {
    EXPECT_NE(std::ranges::find(schema["enum"], value), schema["enum"].end()) << where;
  }
  if (value.is_array()) {
    for (const auto& each : value) expect_described(each, schema["items"], where + "[]");
  }
  if (!value.is_object()) return;
  for (const auto& [name, field] : value.items()) {
    ASSERT_TRUE(schema["properties"].contains(name)) << where << "." << name;
    expect_described(field, schema["properties"][name], where + "." + name);
  }
  for (const auto& name : schema["required"]) EXPECT_TRUE(value.contains(name)) << where << " lacks " << name;
}

TEST(ControlAnswer, HasTheFieldsOfItsSchema) {
  std::ifstream file(TUTTI_SOURCE_DIR "/share/schemas/job.schema.json");
  const auto schema = nlohmann::json::parse(file, nullptr, false);
  ASSERT_FALSE(schema.is_discarded());
  expect_described(nlohmann::json::parse(json_of(some_job(), kNow, 1)), schema, "job");
}

}  // namespace
}  // namespace tutti::launch::control
