// Runs `tutti env` in environments of the test's making.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/answer.h"

namespace tutti {
namespace {

Answer env_in(const std::string& variables) {
  return shell("env -i " + variables + " " + std::string(TUTTI_COMMAND) + " env");
}

nlohmann::json settings_in(const std::string& variables) {
  const Answer answer =
      shell("( env -i " + variables + " " + std::string(TUTTI_COMMAND) + " env --json 2> /dev/null )");
  const auto document = nlohmann::json::parse(answer.text, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << answer.text;
  return document;
}

nlohmann::json setting_of(const nlohmann::json& document, const std::string& name) {
  for (const auto& each : document.value("settings", nlohmann::json::array())) {
    if (each.value("name", "") == name) return each;
  }
  return nlohmann::json::object();
}

TEST(Env, ListsEverySettingWithItsDefault) {
  const Answer answer = env_in("");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer.text, "TUTTI_START_TIMEOUT    60s     60s     default                How long a start"))
      << answer.text;
  EXPECT_EQ(text::split(answer.text, '\n').size(), 19u) << answer.text;
}

TEST(Env, SaysWhereAValueCameFrom) {
  const auto document = settings_in("NCCL_DEBUG=INFO TUTTI_SILENCE=3");
  const auto level = setting_of(document, "TUTTI_LOG");
  EXPECT_EQ(level.value("value", ""), "info");
  EXPECT_EQ(level.value("from", ""), "NCCL_DEBUG");
  EXPECT_EQ(level.value("alias", ""), "NCCL_DEBUG");
  EXPECT_EQ(level.value("default", ""), "warning");
  EXPECT_EQ(level.value("allowed", ""), "error, warning, info or debug");
  EXPECT_EQ(setting_of(document, "TUTTI_SILENCE").value("from", ""), "TUTTI_SILENCE");
  EXPECT_EQ(setting_of(document, "TUTTI_TIMEOUT").value("from", ""), "default");
  EXPECT_TRUE(document["unknown"].empty());
}

TEST(Env, FailsWithASentenceForEveryBadValue) {
  const Answer answer = env_in("TUTTI_RAILS_MAX=99 TUTTI_SOCKET_IFNAME=eth0,, TUTTI_LOG_FILE=%x");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text,
                       "\ntutti env: TUTTI_RAILS_MAX: '99' is outside of what is allowed; it takes a whole "
                       "number from 1 to 16\n"))
      << answer.text;
  EXPECT_TRUE(contains(answer.text, "\ntutti env: TUTTI_SOCKET_IFNAME: 'eth0,,' has an empty name")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "\ntutti env: TUTTI_LOG_FILE: ")) << answer.text;
  EXPECT_TRUE(setting_of(settings_in("TUTTI_RAILS_MAX=99"), "TUTTI_RAILS_MAX").contains("error"));
}

TEST(Env, NamesUnknownSettingsWithTheNearestKnownAndGoesOn) {
  const Answer answer = env_in("TUTTI_SILENSE=3 TUTTI_SEED=1");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer.text, "tutti env: TUTTI_SILENSE is no setting, did you mean 'TUTTI_SILENCE'?\n"));
  EXPECT_FALSE(contains(answer.text, "TUTTI_SEED"));
}

TEST(Env, SaysWhichOfTwoNamesCounts) {
  const Answer answer = env_in("TUTTI_SOCKET_IFNAME=eth NCCL_SOCKET_IFNAME=ib");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer.text, "tutti env: TUTTI_SOCKET_IFNAME='eth' counts, NCCL_SOCKET_IFNAME='ib' does not\n"))
      << answer.text;
}

TEST(Env, PrintsJsonWhateverBytesAValueHas) {
  EXPECT_TRUE(settings_in("TUTTI_LOG_FILE=$(printf 'a\\377b')").contains("settings"));
}

}  // namespace
}  // namespace tutti
