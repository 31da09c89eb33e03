// Files that tools write and read, and what tools exit with.
#include <nlohmann/json.hpp>

#include "tests/perf/tool_run.h"
#include "tools/perf/report/schema_for_test.h"

namespace tutti::perf {
namespace {

const std::string kSmall = "-b 1K -e 4K -f 2 -n 2 -g 2 ";

nlohmann::json schema() {
  return nlohmann::json::parse(content_of(std::string(TUTTI_SOURCE_DIR) + "/share/schemas/perf.schema.json"));
}

TEST(Outputs, JsonFollowsItsSchemaInEveryMode) {
  const Folder folder;
  int number = 0;
  for (const char* line : {"", "-c 0", "--explain --stragglers --repeat 2", "-I 1", "-G 2", "-o all -d all -N 2"}) {
    const std::string path = folder.file(std::to_string(number++) + ".json");
    const Ending ending = perf("all_reduce", kSmall + line + " -J " + path);
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_TRUE(ending.says("# Writing JSON output to " + path)) << ending.output;
    const auto run = nlohmann::json::parse(content_of(path), nullptr, false);
    ASSERT_FALSE(run.is_discarded()) << line;
    for (const std::string& fault : schema_faults(schema(), run)) ADD_FAILURE() << line << ": " << fault;
  }
}

TEST(Outputs, JsonHasRealBooleansAndNumbers) {
  const Folder folder;
  EXPECT_EQ(perf("broadcast", kSmall + "-r 1 -J " + folder.file("x.json"), {{"NCCL_TESTS_MIN_BW", "0"}}).exit_code, 0);
  const auto run = nlohmann::json::parse(content_of(folder.file("x.json")));
  EXPECT_EQ(run["out_of_bounds"]["okay"], true);
  EXPECT_EQ(run["average_bus_bandwidth"]["okay"], true);
  EXPECT_TRUE(run["average_bus_bandwidth"]["bandwidth"].is_number());
  EXPECT_EQ(run["results"][0]["root"], 1);
  EXPECT_EQ(run["results"][0]["size"], 1024);
  EXPECT_EQ(run["results"].size(), 3u);
  EXPECT_EQ(run["results"][0]["out_of_place_per_iter"]["times_us"].size(), 2u) << run.dump();
}

TEST(Outputs, TheEnvironmentIsNotTold) {
  const Folder folder;
  const Environment secrets = {{"SECRET_TOKEN", "open-sesame"},  {"TUTTI_JOB_SECRET", "open-sesame"},
                               {"NCCL_API_KEY", "open-sesame"},  {"AWS_SESSION", "open-sesame"},
                               {"NCCL_PASSWORD", "open-sesame"}, {"NCCL_TESTS_TOKEN", "open-sesame"}};
  const Ending ending = perf("all_reduce",
                             kSmall + "-J " + folder.file("x.json") + " --report " + folder.file("x.html") + " --csv " +
                                 folder.file("x.csv") + " --markdown " + folder.file("x.md"),
                             secrets);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_FALSE(ending.says("open-sesame")) << ending.output;
  for (const char* name : {"x.json", "x.html", "x.csv", "x.md"}) {
    EXPECT_FALSE(content_of(folder.file(name)).empty()) << name;
    EXPECT_EQ(content_of(folder.file(name)).find("open-sesame"), std::string::npos) << name;
  }
}

TEST(Outputs, JsonIsNeverOverwritten) {
  const Folder folder;
  const std::string path = folder.file("x.json");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(perf("all_reduce", kSmall + "-J " + path).exit_code, 0);
  std::ofstream(folder.file("taken.json")) << "mine";
  const Ending ending = perf("all_reduce", kSmall + "-J " + folder.file("taken.json"));
  EXPECT_TRUE(ending.says(folder.file("taken.json.0"))) << ending.output;
  EXPECT_EQ(content_of(folder.file("taken.json")), "mine");
  for (const char* suffix : {"", ".0", ".1"})
    EXPECT_TRUE(nlohmann::json::accept(content_of(path + suffix))) << path << suffix;
}

TEST(Outputs, OtherRunsAreDrawnIntoAReport) {
  const Folder folder;
  EXPECT_EQ(perf("all_reduce", kSmall + "-J " + folder.file("old.json")).exit_code, 0);
  const Ending ending =
      perf("all_reduce", kSmall + "--report " + folder.file("x.html") + " --overlay before=" + folder.file("old.json"));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_NE(content_of(folder.file("x.html")).find("before"), std::string::npos);
}

// A baseline whose times are those of a run, times a factor.
std::string changed_baseline(const Folder& folder, double factor) {
  const std::string path = folder.file("base.json");
  EXPECT_EQ(perf("all_reduce", kSmall + "--repeat 5 -J " + path).exit_code, 0);
  auto run = nlohmann::json::parse(content_of(path));
  for (auto& row : run["results"]) {
    for (const char* place : {"out_of_place", "in_place"}) {
      auto& measurement = row[place];
      measurement["time"] = measurement["time"].get<double>() * factor;
      for (auto& time : measurement["repeats_us"]) time = time.get<double>() * factor;
      for (const char* bandwidth : {"alg_bw", "bus_bw"})
        measurement[bandwidth] = measurement[bandwidth].get<double>() / factor;
    }
  }
  std::ofstream(folder.file("changed.json")) << run.dump();
  return folder.file("changed.json");
}

TEST(Outputs, SlowerThanABaselineIsAnExitCode) {
  const Folder folder;
  const std::string fast = changed_baseline(folder, 0.01);
  const Ending ending = perf("all_reduce", kSmall + "--repeat 5 --compare " + fast);
  EXPECT_EQ(ending.exit_code, 8) << ending.output;
  EXPECT_TRUE(ending.says("slower")) << ending.output;
  const Ending sure = perf("all_reduce", kSmall + "--repeat 5 --confidence 99 --compare " + fast);
  EXPECT_EQ(sure.exit_code, 8) << sure.output;
  EXPECT_TRUE(sure.says("confidence 99 %")) << sure.output;
}

TEST(Outputs, ChangesThatDoNotCountAreNoRegressions) {
  const Folder folder;
  const std::string twice = changed_baseline(folder, 0.5);
  EXPECT_EQ(perf("all_reduce", kSmall + "--repeat 5 --min-effect 1000 --compare " + twice).exit_code, 0);
}

TEST(Outputs, FasterThanABaselineIsWell) {
  const Folder folder;
  const Ending ending = perf("all_reduce", kSmall + "--repeat 5 --compare " + changed_baseline(folder, 100));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(ending.says("faster")) << ending.output;
}

std::string topology_path(const std::string& name) {
  return std::string(TUTTI_SOURCE_DIR) + "/share/topologies/" + name;
}

TEST(Outputs, TheLimitOfAMachineIsHeldAgainstIt) {
  const Ending ending = perf("all_reduce", "-b 64K -e 1M -f 4 -n 2 -g 8 --expect " + topology_path("a100x8.topo"));
  expect_right(ending, 3);
  EXPECT_TRUE(ending.says("A100")) << ending.output;
}

TEST(Outputs, ARunThatCannotBeJudgedIsKept) {
  const Folder folder;
  const Ending ending =
      perf("all_reduce", kSmall + "--expect " + topology_path("a100x16.topo") + " -J " + folder.file("x.json"));
  EXPECT_EQ(ending.exit_code, 2) << ending.output;
  EXPECT_TRUE(ending.says("16 devices")) << ending.output;
  const auto run = nlohmann::json::parse(content_of(folder.file("x.json")), nullptr, false);
  ASSERT_FALSE(run.is_discarded());
  EXPECT_EQ(run["results"].size(), 3u);
}

TEST(Outputs, TooLittleBandwidthFails) {
  const Ending ending = perf("all_reduce", kSmall, {{"NCCL_TESTS_MIN_BW", "1000000"}});
  EXPECT_EQ(ending.exit_code, 7) << ending.output;
  EXPECT_TRUE(ending.says("# Out of bounds values : 0 OK")) << ending.output;
  EXPECT_TRUE(ending.says(" FAILED\n")) << ending.output;
  const Ending wrong = perf("all_reduce", kSmall, {{"NCCL_TESTS_MIN_BW", "much"}});
  EXPECT_EQ(wrong.exit_code, 2) << wrong.output;
  EXPECT_TRUE(rows_in(wrong.output).empty()) << "it is said before anything is measured: " << wrong.output;
}

// One sentence on one line, before anything is measured.
void expect_usage_error(const std::string& line, std::string_view part, int exit_code = 2) {
  const Ending ending = perf("all_reduce", line);
  EXPECT_EQ(ending.exit_code, exit_code) << line << ": " << ending.output;
  EXPECT_TRUE(ending.says(part)) << line << ": " << ending.output;
  EXPECT_EQ(text::split(ending.output, '\n').size(), 2u) << line << ": " << ending.output;
}

TEST(Usage, IsASentenceAndACode) {
  expect_usage_error("--itres 3", "did you mean '--iters'?");
  expect_usage_error("-q", "has no option '-q'");
  expect_usage_error("-o summ", "did you mean 'sum'?");
  expect_usage_error("-d floot", "did you mean 'float'?");
  expect_usage_error("-b 2K -e 1K", "is above the largest");
  expect_usage_error("-b 99999999999999999999", "is not a size");
  expect_usage_error("-e 99999999999G", "is not a size");
  expect_usage_error("-i 0", "cannot go up by 0 bytes");
  expect_usage_error("-D 1 -R 2", "kernels of the device interface", 5);
}

TEST(Usage, FilesThatCannotBeReadOrWrittenAreNamed) {
  const Folder folder;
  std::ofstream(folder.file("broken.json")) << "{\"results\":";
  std::ofstream(folder.file("empty"));
  expect_usage_error("-J /nowhere/x.json", "cannot write /nowhere/x.json");
  expect_usage_error("-J x.txt", "end the name with .json");
  for (const char* option : {"--csv", "--markdown", "--report"})
    expect_usage_error(std::string(option) + " /nowhere/x", "cannot write /nowhere/x");
  expect_usage_error("--compare /nowhere/base.json", "cannot read /nowhere/base.json");
  expect_usage_error("--compare " + folder.file("broken.json"), "broken.json");
  expect_usage_error("--compare " + folder.file("empty"), "empty");
  expect_usage_error("--compare " + folder.file(""), folder.file(""));
  expect_usage_error("--expect /nowhere.topo", "cannot read the topology");
  expect_usage_error("--report " + folder.file("x.html") + " --overlay /nowhere", "cannot read /nowhere");
}

TEST(Usage, DevicesThatAreNotThereAreCounted) {
  const Ending ending = perf("all_reduce", "-b 8 -e 8 -g 9");
  EXPECT_EQ(ending.exit_code, 5) << ending.output;
  EXPECT_TRUE(ending.says("9 devices are needed on this host, but there are 8")) << ending.output;
}

TEST(Usage, ARootThatIsNoRankIsNamed) {
  const Ending ending = perf("broadcast", "-b 8 -e 8 -g 2 -r 2");
  EXPECT_EQ(ending.exit_code, 2) << ending.output;
  EXPECT_TRUE(ending.says("there is no rank 2 to be the root (-r): ranks are 0 to 1")) << ending.output;
}

TEST(Usage, AnUnknownNameOfTheToolIsNamed) {
  const Folder folder;
  std::filesystem::create_symlink(tool_path("all_reduce"), folder.file("al_reduce_perf"));
  const Ending ending = run({folder.file("al_reduce_perf")});
  EXPECT_EQ(ending.exit_code, 2) << ending.output;
  EXPECT_TRUE(ending.says("did you mean 'all_reduce_perf'?")) << ending.output;
}

}  // namespace
}  // namespace tutti::perf
