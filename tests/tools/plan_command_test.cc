// `tutti plan` as people use it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tools/answer.h"

namespace tutti {
namespace {

std::string sample(const std::string& name) {
  return std::string(TUTTI_SOURCE_DIR) + "/share/topologies/" + name + ".topo";
}
std::string golden(const std::string& name) {
  return std::string(TUTTI_SOURCE_DIR) + "/tests/plans/golden/" + name + ".plan";
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A folder that goes with the test.
class PlanCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("tutti_") + test->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(PlanCommand, PrintsThePlanThatItNamesAndTheOneInAFile) {
  const Answer built = tutti("plan print --collective all_reduce --algorithm ring --ranks 4");
  EXPECT_EQ(built.exit_code, 0);
  EXPECT_EQ(built.text, content(golden("ring_all_reduce_4")));
  EXPECT_EQ(tutti("plan print " + golden("ring_all_reduce_4")).text, built.text);
}

TEST_F(PlanCommand, ChecksAPlanAndNamesItsFault) {
  const Answer good = tutti("plan check " + golden("ring_all_reduce_4"));
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.text, "proved ring all_reduce over 4 ranks: 28 steps, 24 messages, 0 reaches; needs 2 slots a pipe\n");
  std::string broken = content(golden("ring_all_reduce_4"));
  broken.replace(broken.find("slots=2"), 7, "slots=1");
  std::ofstream(file("broken.plan")) << broken;
  expect_error(1, "plan check " + file("broken.plan"), "rank 0 lane 0 step 1: deadlock: needs a free slot to rank 1");
}

TEST_F(PlanCommand, TakesALevelOfReachOrNone) {
  EXPECT_TRUE(contains(tutti("plan print --ranks 3 --reach").text, "plan direct all_reduce ranks=3"));
  EXPECT_TRUE(contains(tutti("plan print --ranks 3 --reach --in-place").text, "plan direct all_reduce ranks=3"));
  EXPECT_TRUE(contains(tutti("plan print --ranks 3 --reach stage").text, "reach=stage:0-2"));
  EXPECT_TRUE(contains(tutti("plan print --ranks 3 --reach load --algorithm pull").text, "reach=load:0-2"));
  EXPECT_TRUE(contains(tutti("plan print --ranks 3").text, "plan pairwise all_reduce ranks=3"));
}

TEST_F(PlanCommand, ProvesEverythingAndCounts) {
  const Answer answer = tutti("plan check --all --ranks 1-3 --lanes 1-2");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(answer.text.starts_with("proved ")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "1 to 3 ranks, 1 to 2 lanes")) << answer.text;
}

TEST_F(PlanCommand, ExplainsItsChoice) {
  const Answer answer = tutti("plan explain " + sample("a100x8") + " --bytes 64M");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(contains(answer.text, "bandwidth decides")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "<- chosen")) << answer.text;
}

TEST_F(PlanCommand, ExplainsAndSimulatesWithLessReachThanTheMachineHas) {
  const Answer explained = tutti("plan explain " + sample("laptop") + " --bytes 64 --reach stage");
  EXPECT_EQ(explained.exit_code, 0) << explained.text;
  EXPECT_TRUE(contains(explained.text, "publish")) << explained.text;
  for (const char* call : {"publish --reach stage", "staged --reach load", "pull --reach load"}) {
    const Answer simulated = tutti("plan simulate " + sample("laptop") + " --bytes 64K --algorithm " + call);
    EXPECT_EQ(simulated.exit_code, 0) << simulated.text;
    EXPECT_TRUE(contains(simulated.text, "busiest links:")) << simulated.text;
  }
}

TEST_F(PlanCommand, SimulatesAndDraws) {
  const Answer answer = tutti("plan simulate " + sample("laptop") + " --bytes 64K --algorithm ring --svg " +
                              file("a.svg") + " --trace " + file("a.json"));
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer.text, "busiest links:")) << answer.text;
  EXPECT_TRUE(content(file("a.svg")).starts_with("<svg "));
  EXPECT_TRUE(contains(content(file("a.json")), "\"traceEvents\""));
}

TEST_F(PlanCommand, SaysWhatIsWrongWithFiles) {
  expect_error(1, "plan print " + file("nothing.plan"), "nothing.plan': No such file or directory");
  expect_error(1, "plan check /dev/null", "/dev/null: the text holds no plan");
  expect_error(1, "plan explain " + file("nothing.topo"), "cannot read the topology");
  std::ofstream(file("bad.topo")) << "topology \"x\"\nhots a\n";
  expect_error(1, "plan explain " + file("bad.topo"), "line 2");
}

TEST_F(PlanCommand, SaysWhatIsWrongWithOptions) {
  expect_usage_error("plan print --ranks 0", "0 ranks are not between 1 and");
  expect_usage_error("plan print --hosts 3,3 --ranks 5", "--hosts 3,3 does not add up to --ranks 5");
  expect_usage_error("plan print --algorithm direct --ranks 3",
                     "it needs 2 to 1,024 ranks on one host, with reach full");
  expect_usage_error("plan print --algorithm pull --ranks 3 --reach stage",
                     "with reach stage: it needs 2 to 1,024 ranks");
  expect_usage_error("plan print --ranks 3 --reach some", "'some' is not one of none, stage, load, full");
  expect_usage_error("plan print --collective broadcast --root 7", "root 7 is not a rank of 4");
  expect_usage_error("plan check --ranks 3-4", "needs --all");
  expect_usage_error("plan check --all --ranks 0-4", "is not a number or a range");
  expect_usage_error("plan explain " + sample("laptop") + " --bytes 2", "not a whole number of float32 elements");
  expect_usage_error("plan explain " + sample("laptop") + " --collective broadcast --root 9", "--root 9 is not a rank");
  expect_usage_error("plan simulate " + sample("laptop") + " --algorithm hierarchical_ring", "does not fit all_reduce");
  expect_usage_error("plan simulate " + sample("laptop") + " --lanes 100000", "lanes are not between 1 and 256");
}

}  // namespace
}  // namespace tutti
