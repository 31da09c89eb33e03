// Runs `tutti check` in all its forms. Other hosts are this one: an ssh of the test runs commands here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/answer.h"
#include "tools/perf/report/schema_for_test.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

nlohmann::json schema(const std::string& name) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/share/schemas/" + name);
  return nlohmann::json::parse(file);
}

// What is written to stdout alone.
nlohmann::json json_of(const Answer& answer) {
  const std::size_t begin = answer.text.find("{\n");
  return nlohmann::json::parse(answer.text.substr(begin == std::string::npos ? 0 : begin), nullptr, false);
}

// A folder with programs that stand for others.
class CheckCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tutti-check-command-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add_program(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << "#!/bin/bash\n" << text;
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  // The words are options, --, the host and the command. Hosts called down1, down2 ... cannot be reached.
  void add_ssh() {
    add_program(
        "ssh",
        "host=\"${@: -2:1}\"\n"
        "case \"$host\" in down*) echo \"ssh: connect to host $host port 22: Connection refused\" >&2; exit 255;; "
        "esac\nexec bash -c \"${@: -1}\"\n");
  }
  Answer check(const std::string& arguments) const {
    return shell("PATH=" + folder_.string() + ":$PATH timeout 120 " + std::string(TUTTI_COMMAND) + " check " +
                 arguments);
  }

  fs::path folder_;
};

TEST_F(CheckCommand, PrintsJsonThatFitsItsSchema) {
  const Answer answer = check("--json");
  const auto json = json_of(answer);
  ASSERT_TRUE(json.is_object()) << answer.text;
  for (const std::string& fault : perf::schema_faults(schema("check.schema.json"), json)) ADD_FAILURE() << fault;
  EXPECT_EQ(answer.exit_code, json["usable"].get<bool>() ? 0 : 1);
}

TEST_F(CheckCommand, AsksPythonForFrameworksAndBelievesIt) {
  add_program("python3", "echo python 3.11.2\necho PyTorch 2.4.0\n");
  const Answer table = check("--build");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(contains(table.text, "    [ ] TensorFlow\n    [X] PyTorch\n    [ ] MXNet\n")) << table.text;
  EXPECT_TRUE(contains(table.text, "Available Controllers:\n    [ ] MPI\n    [ ] Gloo\n    [X] Tutti\n")) << table.text;
}

TEST_F(CheckCommand, DoesNotWaitForAPythonThatHangs) {
  add_program("python3", "sleep 1000\n");
  const Answer table = check("--build");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(contains(table.text, "Frameworks are unknown: python3 has not answered within 5 s.")) << table.text;
}

TEST_F(CheckCommand, HidesWhatItStartsOnHosts) {
  EXPECT_FALSE(contains(tutti("--help").text, "check-rank"));
  const Answer alone = tutti("check-rank");
  EXPECT_TRUE(contains(alone.text, "is started by 'tutti check -H'")) << alone.text;
}

TEST_F(CheckCommand, RefusesContradictions) {
  expect_usage_error("check --json --build", "--build");
  expect_usage_error("check --tolerance 2", "--tolerance");
  expect_usage_error("check -H a,b --hostfile hosts.txt", "both name hosts");
  expect_usage_error("check -H 'a;b'", "-H");
  expect_usage_error("check --slurm", "needs an allocation of Slurm");
}

TEST_F(CheckCommand, MeasuresEveryPairOfHosts) {
  add_ssh();
  const Answer answer = check("-H gpu1,gpu2,gpu3 --tolerance 0 --json");
  const auto json = json_of(answer);
  ASSERT_TRUE(json.is_object()) << answer.text;
  for (const std::string& fault : perf::schema_faults(schema("check-hosts.schema.json"), json)) ADD_FAILURE() << fault;
  EXPECT_EQ(answer.exit_code, json["usable"].get<bool>() ? 0 : 1);
  ASSERT_EQ(json["pairs"].size(), 3u) << answer.text;
  for (const auto& pair : json["pairs"]) {
    EXPECT_EQ(pair["failure"], "") << pair;
    EXPECT_GT(pair["there_bytes_per_s"], 0);
    EXPECT_GT(pair["latency_s"], 0);
  }
  for (const auto& host : json["hosts"]) EXPECT_TRUE(host["report"].is_object()) << host["name"];
}

TEST_F(CheckCommand, NamesHostsThatSshCannotReachAndChecksTheOthers) {
  add_ssh();
  const Answer answer = check("-H gpu1,down7,gpu2 --tolerance 0");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text, "Connection refused")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "down7: ")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "Bandwidth, from the row to the column")) << answer.text;
}

TEST_F(CheckCommand, SaysThatTuttiIsMissingOnAHost) {
  add_ssh();
  const Answer answer = check("-H gpu1 --agent-path /nowhere/tutti");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text, "/nowhere/tutti")) << answer.text;
}

}  // namespace
}  // namespace tutti
