// Findings and clusters as text, as JSON and back.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/perf/report/schema_for_test.h"
#include "tools/tutti/check/build_table.h"
#include "tools/tutti/check/cluster_for_test.h"
#include "tools/tutti/check/cluster_json.h"
#include "tools/tutti/check/report_json.h"
#include "tools/tutti/check/report_text.h"

namespace tutti::tool::check {
namespace {

using Json = nlohmann::ordered_json;

nlohmann::json schema(const std::string& name) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/share/schemas/" + name);
  return nlohmann::json::parse(file);
}

HostReport full_report() {
  HostReport report{.host = "a", .version = "0.1.0", .facts = {{"tutti", "0.1.0"}}};
  report.frameworks = parse_frameworks("python 3.11.2\nPyTorch 2.4.0\n");
  report.findings = {{State::slower, "clock", "free", "chrony", {"one", "two"}}, {.what = "build", .text = "good"}};
  return report;
}

TEST(Report, IsTheSameAfterItWasJson) {
  const HostReport report = full_report();
  const auto back = report_of(json_of(report));
  ASSERT_TRUE(back) << back.status().text();
  EXPECT_EQ(*back, report);
}

TEST(Report, FitsItsSchema) {
  const auto json = nlohmann::json::parse(json_of(full_report()).dump());
  for (const std::string& fault : perf::schema_faults(schema("check.schema.json"), json)) ADD_FAILURE() << fault;
}

TEST(Report, IsReadAsFarAsItIsOne) {
  EXPECT_FALSE(report_of(Json::parse("[1, 2]")));
  EXPECT_FALSE(report_of(Json::parse("{}")));
  const auto odd = report_of(
      Json::parse(R"({"version": "9", "facts": [1, {"name": 5}], "findings": "none", "frameworks": 3, "new": {}})"));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->version, "9");
  EXPECT_EQ(odd->facts.size(), 1u);
}

TEST(Report, SaysWhatIsMissingInCapitalsAndTheRemedyBelow) {
  const Finding finding{State::missing, "sleeping", "no futex", "allow it", {"detail"}};
  EXPECT_EQ(text_of(finding),
            "MISSING  sleeping        no futex\n"
            "                         detail\n"
            "                         -> allow it\n");
}

TEST(ClusterJson, FitsItsSchema) {
  Cluster cluster = good_cluster(3);
  cluster.hosts[2].report.reset();
  cluster.hosts[2].failure = "refused";
  const auto json = nlohmann::json::parse(json_of(cluster, {}).dump());
  for (const std::string& fault : perf::schema_faults(schema("check-hosts.schema.json"), json)) ADD_FAILURE() << fault;
  EXPECT_EQ(json["usable"], false);
  EXPECT_EQ(json["problems"][0]["text"], "gpu3: refused");
  EXPECT_EQ(json["median_bytes_per_s"], 3e9);
}

TEST(ClusterLines, BringWhatHostsSayTogether) {
  Cluster cluster;
  cluster.hosts = {{.name = "a"}, {.name = "b"}};
  const Pair good{.a = 0, .b = 1, .latency_s = 1e-5, .there_bytes_per_s = 1e9, .way = "lo"};
  Pair bad = good;
  bad.failure = "late";
  add_lines(cluster, 1, "a banner\n" + line_of(full_report()) + line_of(bad) + "tutti-check {broken\n");
  add_lines(cluster, 0, line_of(good) + failure_line("no store"));
  ASSERT_TRUE(cluster.hosts[1].report);
  EXPECT_EQ(*cluster.hosts[1].report, full_report());
  EXPECT_EQ(cluster.hosts[0].failure, "no store");
  ASSERT_EQ(cluster.pairs.size(), 1u);
  EXPECT_EQ(cluster.pairs[0], good) << "a measurement wins over a failure";
}

TEST(ClusterLines, LeaveOutPairsThatAHostCannotSpeakOf) {
  Cluster cluster;
  cluster.hosts = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  for (const Pair& pair : {Pair{.a = 0, .b = 7}, Pair{.a = 1, .b = 1}, Pair{.a = -1, .b = 1}, Pair{.a = 1, .b = 2}}) {
    add_lines(cluster, 0, line_of(pair));
  }
  EXPECT_TRUE(cluster.pairs.empty());
}

TEST(BuildTable, HasTheRowsThatScriptsSearchFor) {
  const BuildFacts facts{.frameworks = parse_frameworks("python 3.11.2\nPyTorch 2.4.0\n"), .has_ucx = true};
  const std::string table = build_table(facts);
  EXPECT_EQ(
      table.substr(table.find("\n\n")),
      "\n\nAvailable Frameworks:\n"
      "    [ ] TensorFlow\n    [X] PyTorch\n    [ ] MXNet\n"
      "\nAvailable Controllers:\n"
      "    [ ] MPI\n    [ ] Gloo\n    [X] Tutti\n"
      "\nAvailable Tensor Operations:\n"
      "    [X] NCCL\n    [ ] DDL\n    [ ] CCL\n    [ ] MPI\n    [ ] Gloo\n    [X] Tutti (shared memory, TCP, UCX)\n"
      "\nNeither MPI nor Gloo is needed: Tutti starts and connects processes by itself.\n"
      "NCCL is the interface, as Tutti's libnccl.so.2 has it ('tutti env nccl').\n");
}

TEST(Frameworks, SayWhyTheyAreUnknown) {
  EXPECT_EQ(parse_frameworks("nonsense\n").failure, "python3 has not told its version");
  EXPECT_EQ(finding_of(parse_frameworks("python 3.9\nTensorFlow 2.1\n")).text,
            "TensorFlow 2.1 by Python 3.9; not PyTorch, MXNet");
}

}  // namespace
}  // namespace tutti::tool::check
