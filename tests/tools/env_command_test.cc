// Runs `tutti env` in environments of the test's making.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/knobs.h"
#include "tests/tools/answer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_TRUE(contains(answer.text,
                       "TUTTI_START_TIMEOUT    seconds 60s     60s     default                How long "
                       "a start"))
      << answer.text;
  EXPECT_EQ(text::split(answer.text, '\n').size(), all_knobs().size() + 2) << answer.text;
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

TEST(Env, NeverShowsASecret) {
  for (const char* option : {"", " --json", " --nccl"}) {
    const Answer answer =
        shell("env -i TUTTI_JOB_SECRET=do-not-show-this-to-anybody " + std::string(TUTTI_COMMAND) + " env" + option);
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_FALSE(contains(answer.text, "do-not-show")) << answer.text;
  }
  EXPECT_EQ(setting_of(settings_in("TUTTI_JOB_SECRET=do-not-show-this"), "TUTTI_JOB_SECRET").value("value", ""), "set");
}

Answer nccl_in(const std::string& variables) {
  return shell("( env -i " + variables + " " + std::string(TUTTI_COMMAND) + " env --nccl )");
}

TEST(Env, ListsTheVariablesOfNcclAndWhatBecomesOfThem) {
  const Answer answer = nccl_in("NCCL_DEBUG=INFO NCCL_IB_DISABLE=1 NCCL_NTHREADS=64");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_TRUE(contains(answer.text, " TUTTI_LOG           INFO  How much")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "tutti env: NCCL_IB_DISABLE='1' is TUTTI_TRANSPORT=tcp\n")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "tutti env: NCCL_NTHREADS has no meaning here: ")) << answer.text;
}

TEST(Env, FailsForABadVariableOfNccl) {
  const Answer answer = nccl_in("NCCL_ALGO=Rign");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_TRUE(contains(answer.text, "tutti env: NCCL_ALGO: 'Rign' is not known; it takes ")) << answer.text;
}

TEST(Env, ReadsTheFileOfSettingsThatNcclReads) {
  const fs::path file = fs::path(testing::TempDir()) / "env_command_test.conf";
  std::ofstream(file) << "# of this test\nNCCL_CROSS_NIC=2\nNCCL_NTHREADS=32\n";
  const Answer answer = nccl_in("NCCL_CONF_FILE=" + file.string() + " NCCL_NTHREADS=64");
  fs::remove(file);
  EXPECT_TRUE(contains(answer.text, "tutti env: NCCL_CROSS_NIC has no meaning here: ")) << answer.text;
  EXPECT_TRUE(contains(answer.text, " 64 ")) << "the environment counts: " << answer.text;
  EXPECT_FALSE(contains(answer.text, " 32 ")) << answer.text;
}

// A tree as it is installed, with files that are empty.
class InstalledTree : public testing::Test {
 protected:
  void SetUp() override {
    root = fs::path(testing::TempDir()) / ("tutti it's " + std::to_string(::getpid()));
    fs::create_directories(root / "bin");
    fs::copy_file(TUTTI_COMMAND, root / "bin/tutti");
  }
  void TearDown() override { fs::remove_all(root); }
  void put(const fs::path& path) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << "";
  }
  Answer run(const std::string& after = "") {
    return shell("cd \"" + root.string() + "\" && ( eval \"$(./bin/tutti env nccl)\"" + after + " )");
  }
  fs::path root;
  fs::path libraries = fs::path(TUTTI_LIBDIR) / "tutti";
  fs::path headers = TUTTI_INCLUDEDIR;
};

TEST_F(InstalledTree, TellsAShellWhereOurNcclIs) {
  put(libraries / "nccl/libnccl.so.2");
  put(libraries / "cudart/libcudart.so");
  put(headers / "tutti-nccl/nccl.h");
  put(headers / "tutti-cudart/cuda_runtime.h");
  const Answer answer = run(" && echo \"$LD_LIBRARY_PATH\" && echo \"$CPATH\"");
  const auto text = [&](const fs::path& path) { return (root / path).string(); };
  EXPECT_TRUE(contains(answer.text, text(libraries / "nccl") + ":" + text(libraries / "cudart"))) << answer.text;
  EXPECT_TRUE(contains(answer.text, text(headers / "tutti-nccl") + ":" + text(headers / "tutti-cudart")))
      << answer.text;
}

TEST_F(InstalledTree, SaysWhatIsMissing) {
  put(libraries / "nccl/libnccl.so.2");
  put(headers / "tutti-nccl/nccl.h");
  const Answer answer = run();
  EXPECT_TRUE(contains(answer.text, "tutti env nccl: " + (root / libraries / "cudart/libcudart.so, ").string()))
      << answer.text;
  EXPECT_FALSE(contains(answer.text, "libnccl.so.2")) << answer.text;
}

TEST(Env, PrintsJsonWhateverBytesAValueHas) {
  EXPECT_TRUE(settings_in("TUTTI_LOG_FILE=$(printf 'a\\377b')").contains("settings"));
}

}  // namespace
}  // namespace tutti
