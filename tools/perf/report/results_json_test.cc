#include "tools/perf/report/results_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "tools/perf/report/invented_run_for_test.h"
#include "tools/perf/report/schema_for_test.h"

namespace tutti::perf {
namespace {

using Json = nlohmann::json;

Json perf_schema() {
  std::ifstream file(TUTTI_SOURCE_DIR "/share/schemas/perf.schema.json");
  return Json::parse(file);
}

std::vector<std::string> faults_of(const Run& run) { return schema_faults(perf_schema(), Json::parse(json_text(run))); }

std::string failure_of(std::string_view text) {
  const auto run = parse_run(text);
  return run ? "none" : std::string(run.status().text());
}

// As nccl-tests 2.19 writes it: truths and roots are texts, times may be "nan", the environment is all there.
constexpr std::string_view kForeign = R"({"version":3,"start_time":"2024-05-01 12:00:00",
  "args":["/opt/tests/all_reduce_perf","-b","8"],"env":["HOME=/root","TOKEN=secret"],"nccl_version":22809,
  "config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":16,"step_factor":2,"warmup_iters":1,
    "iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,"blocking_collectives":"true",
    "per_iter_timing":"true","per_iter_skip":0,"parallel_init":"false",
    "devices":[{"rank":0,"group":0,"pid":7,"hostname":"a","device":0,"device_hex":"0000:0f:00","device_info":"H100"},
               {"rank":1,"group":0,"pid":8,"hostname":"b","device":0,"device_hex":"0000:0f:00","device_info":"H100"}]},
  "results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",
      "out_of_place":{"time":12.500000,"alg_bw":0.000640,"bus_bw":0.000640,"nwrong":0.000000},
      "out_of_place_per_iter":{"skipped_iterations":0,"min_us":1.0,"max_us":3.0,"avg_us":2.0,"p50_us":2.0,"p95_us":3.0,
        "p99_us":3.0,"stdev_us":0.5,"cv_pct":25.0,"times_us":[1.0,2.0,3.0],"per_process_max_times_us":[[1.0],[2.0]]},
      "in_place":{"cpu_time":13.0,"alg_bw":"nan","bus_bw":"nan","nwrong":null},
      "actual_iterations":20,"experiment_name":"x"},
    {"size":16,"count":4,"type":"float","redop":"sum","root":"     3","out_of_place":null,
      "in_place":{"time":13.0,"alg_bw":1.0,"bus_bw":1.0,"nwrong":2.000000}}],
  "out_of_bounds":{"count":2,"okay":"false"},"average_bus_bandwidth":{"bandwidth":0.5,"okay":"unchecked"},
  "errors":["","no route to host"],"end_time":"2024-05-01 12:00:01"})";

TEST(ResultsJson, ComesBackAsItWas) {
  const perf::Run run = invented_run();
  const auto again = parse_run(json_text(run));
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(*again, run);
  const auto empty = parse_run(json_text(perf::Run{}));
  ASSERT_TRUE(empty) << empty.status().text();
  EXPECT_EQ(*empty, perf::Run{});
}

TEST(ResultsJson, KeepsWhatIsNotThereApartFromZero) {
  perf::Run run = invented_run();
  run.rows.resize(1);
  run.bandwidth_reached.reset();
  run.rows[0].plan.reset();
  run.rows[0].estimate_us.reset();
  run.rows[0].out_of_place.reset();
  run.rows[0].in_place.emplace().time_us = 3;
  const auto again = parse_run(json_text(run));
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(*again, run);
}

TEST(ResultsJson, HasTheFieldsOfNcclTestsWithRealTypes) {
  const auto json = to_json(invented_run());
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["args"][0], "./all_reduce_perf");
  EXPECT_EQ(json["nccl_version"], 22809);
  EXPECT_EQ(json["config"]["step_factor"], 2);
  EXPECT_FALSE(json["config"].contains("step_bytes"));
  EXPECT_EQ(json["config"]["blocking_collectives"], true);
  EXPECT_EQ(json["config"]["devices"][5]["hostname"], "node-b");
  EXPECT_EQ(json["results"][0]["root"], -1);
  EXPECT_TRUE(json["results"][0]["out_of_place"]["nwrong"].is_number_integer());
  EXPECT_EQ(json["results"][0]["out_of_place_per_iter"]["times_us"].size(), 20u);
  EXPECT_EQ(json["out_of_bounds"]["okay"], true);
  EXPECT_EQ(json["average_bus_bandwidth"]["okay"], true);
  EXPECT_FALSE(json.contains("env"));
}

TEST(ResultsJson, IsWhatTheSchemaSays) {
  EXPECT_EQ(faults_of(invented_run()), std::vector<std::string>{});
  EXPECT_EQ(faults_of(perf::Run{}), std::vector<std::string>{});
  perf::Run odd = invented_run();
  odd.rows[0].out_of_place->wrong.reset();
  odd.rows[0].out_of_place->time_us = std::numeric_limits<double>::quiet_NaN();
  odd.rows[0].in_place.reset();
  odd.setup.step_bytes = 4096;
  odd.bandwidth_reached.reset();
  EXPECT_EQ(faults_of(odd), std::vector<std::string>{});
}

TEST(ResultsJson, AndTheSchemaRefusesOtherThings) {
  const Json schema = perf_schema();
  Json json = Json::parse(json_text(invented_run()));
  json["surprise"] = 1;
  EXPECT_EQ(schema_faults(schema, json), std::vector<std::string>{": surprise is not expected"});
  json.erase("surprise");
  json["results"][3]["out_of_place"]["time"] = "x";
  EXPECT_EQ(schema_faults(schema, json), std::vector<std::string>{".results[3].out_of_place.time: is a string"});
  json["results"][3]["out_of_place"].erase("time");
  EXPECT_EQ(schema_faults(schema, json), std::vector<std::string>{".results[3].out_of_place: time is missing"});
}

TEST(ResultsJson, ReadsFilesOfNcclTests) {
  const auto run = parse_run(kForeign);
  ASSERT_TRUE(run) << run.status().text();
  EXPECT_EQ(run->setup.program, "all_reduce_perf");
  EXPECT_EQ(run->setup.library, "NCCL 2.28.9");
  EXPECT_EQ(run->setup.blocking, 1);
  EXPECT_EQ(run->setup.processes, 2);
  EXPECT_TRUE(run->setup.settings.empty()) << "the environment may hold secrets";
  ASSERT_EQ(run->rows.size(), 2u);
  EXPECT_EQ(run->rows[0].root, -1);
  EXPECT_EQ(run->rows[1].root, 3);
  EXPECT_EQ(run->rows[0].out_of_place->wrong, 0);
  EXPECT_EQ(run->rows[0].out_of_place->distribution->p99_us, 3);
  EXPECT_EQ(run->rows[0].out_of_place->samples_us.size(), 3u);
  EXPECT_EQ(run->rows[0].in_place->time_us, 13);
  EXPECT_EQ(run->rows[0].in_place->wrong, std::nullopt);
  EXPECT_TRUE(std::isnan(run->rows[0].in_place->bus_gbps));
  EXPECT_FALSE(run->rows[1].out_of_place);
  EXPECT_EQ(run->rows[1].in_place->wrong, 2);
  EXPECT_EQ(run->out_of_bounds, 2);
  EXPECT_EQ(run->bandwidth_reached, std::nullopt);
  EXPECT_EQ(run->remarks, std::vector<std::string>{"The library's last error was: no route to host"});
}

TEST(ResultsJson, NamesTheFieldAndWhatStandsThere) {
  Json json = Json::parse(json_text(invented_run()));
  json["results"][3]["out_of_place"]["time"] = "x";
  EXPECT_EQ(failure_of(json.dump()), "results[3].out_of_place.time: expected a number, found \"x\"");
  json["results"] = 7;
  EXPECT_EQ(failure_of(json.dump()), "results: expected a list, found 7");
  json["config"]["devices"][1]["rank"] = 1.5;
  EXPECT_EQ(failure_of(json.dump()),
            "config.devices[1].rank: expected a whole number from -2147483648 to 2147483647, found 1.5");
  json["config"]["devices"][0]["hostname"] = std::string(100, 'h');
  json["config"]["devices"][0]["rank"] = Json::array();
  EXPECT_EQ(failure_of(json.dump()).substr(0, 29), "config.devices[0].rank: expec");
  json["args"][1] = nullptr;  // harmless
  json["args"][2] = false;
  EXPECT_EQ(failure_of(json.dump()), "args[2]: expected a text, found false");
}

TEST(ResultsJson, SaysWhatIsNoResult) {
  EXPECT_EQ(failure_of(""), "this is no JSON: something is wrong at byte 1 of 0");
  EXPECT_EQ(failure_of("{\"results\": [}"), "this is no JSON: something is wrong at byte 14 of 14");
  EXPECT_EQ(failure_of("[1, 2]"), "the document: expected an object, found a list");
  EXPECT_EQ(failure_of("{}"), "results: expected a list, found nothing");
  EXPECT_EQ(failure_of("{\"results\": [{}]}"), "results[0].size: expected a value, found nothing");
  EXPECT_NE(failure_of("{\"results\": [{\"size\": -1}]}"), "none");
  EXPECT_NE(failure_of("{\"results\": [{\"size\": 1e300}]}"), "none");
}

TEST(ResultsJson, SurvivesTextsThatAreNoUtf8) {
  perf::Run run;
  run.setup.processor = "bad \xff\xfe bytes \"quoted\" \n";
  const auto again = parse_run(json_text(run));
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(again->setup.processor, "bad \xef\xbf\xbd\xef\xbf\xbd bytes \"quoted\" \n");
}

}  // namespace
}  // namespace tutti::perf
