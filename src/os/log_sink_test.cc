#include "os/log_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/log.h"
#include "os/environment.h"

namespace tutti::os {
namespace {

namespace fs = std::filesystem;

Knobs knobs_with(const std::string& level, const std::string& file) {
  return *Knobs::read([&](std::string_view name) -> std::optional<std::string> {
    if (name == "TUTTI_LOG") return level;
    if (name == "TUTTI_LOG_FILE") return file;
    return std::nullopt;
  });
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class LogSink : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    log::install(nullptr, LogLevel::error);
    fs::remove_all(folder);
  }
  fs::path folder;
};

TEST_F(LogSink, LinesBeginWithTheTimeWhereAFormatIsGiven) {
  const auto knobs = Knobs::read([&](std::string_view name) -> std::optional<std::string> {
    if (name == "TUTTI_LOG_FILE") return folder / "log";
    if (name == "TUTTI_LOG_TIME") return "<time>_";
    return std::nullopt;
  });
  ASSERT_TRUE(knobs) << knobs.status().text();
  ASSERT_TRUE(install_log(*knobs));
  log::write(LogLevel::warning, 1, "text");
  log::write(LogLevel::warning, 1, std::string(10000, 'x'));
  ASSERT_TRUE(install_log(knobs_with("warning", folder / "log")));
  log::write(LogLevel::warning, 1, "text");
  const auto lines = lines_of(folder / "log");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "<time> tutti: [1] warning: text");
  EXPECT_EQ(lines[1].size() + 1, log::kLineBytesMax);
  EXPECT_EQ(lines[2], "tutti: [1] warning: text");
}

TEST_F(LogSink, TheTimeHasFractionsOfASecondAndBlanks) {
  const std::chrono::system_clock::time_point when(std::chrono::milliseconds(1234));
  EXPECT_EQ(log_time_text("[%S.%3f]_", when), "[01.234] ");
  EXPECT_EQ(log_time_text("%1f %9f %%3f", when), "2 234000000 %3f");
  EXPECT_EQ(log_time_text(std::string(1000, 'x'), when), "");
}

TEST_F(LogSink, AnAreaThatDoesNotExistIsNamedWithItsVariable) {
  const auto knobs = Knobs::read([](std::string_view name) -> std::optional<std::string> {
    if (name == "NCCL_DEBUG_SUBSYS") return "NET,COL";
    return std::nullopt;
  });
  ASSERT_TRUE(knobs) << knobs.status().text();
  const Status status = install_log(*knobs);
  EXPECT_NE(status.text().find("NCCL_DEBUG_SUBSYS"), std::string_view::npos) << status.text();
  EXPECT_NE(status.text().find("'COL' is no area of the log"), std::string_view::npos) << status.text();
}

TEST_F(LogSink, FileNamesHoldHostAndProcess) {
  EXPECT_EQ(*log_file_path("/tmp/%h.%p.100%%", "node7", 42), "/tmp/node7.42.100%");
  EXPECT_EQ(log_file_path("log.%d", "node7", 42).status().text(),
            "the file of the log 'log.%d' has a % that means nothing; %h is the host, %p the process id and %% a "
            "percent sign");
  EXPECT_FALSE(log_file_path("log%", "node7", 42));
}

TEST_F(LogSink, WritesToTheFileThatTheSettingsName) {
  ASSERT_TRUE(install_log(knobs_with("info", folder / "%p.log")));
  log::write(LogLevel::info, 2, "first");
  ASSERT_TRUE(install_log(knobs_with("error", folder / "other.log")));
  log::write(LogLevel::info, 2, "not wanted");
  log::write(LogLevel::error, 2, "second");
  EXPECT_EQ(lines_of(folder / (std::to_string(getpid()) + ".log")), std::vector<std::string>{"tutti: [2] info: first"});
  EXPECT_EQ(lines_of(folder / "other.log"), std::vector<std::string>{"tutti: [2] error: second"});
}

TEST_F(LogSink, WritesToStandardErrorOtherwise) {
  ASSERT_TRUE(install_log(knobs_with("info", "")));
  testing::internal::CaptureStderr();
  log::write(LogLevel::info, 2, "seen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tutti: [2] info: seen\n");
}

TEST_F(LogSink, AFolderThatIsNotThereIsAnErrorThatNamesIt) {
  const Status status = install_log(knobs_with("info", folder / "no" / "log"));
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.text().find((folder / "no" / "log").string()), std::string::npos) << status.text();
}

TEST_F(LogSink, LinesOfManyThreadsStayWholeWhileTheFileChanges) {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  ASSERT_TRUE(install_log(knobs_with("info", folder / "0.log")));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread] {
      for (int line = 0; line < kLines; ++line) log::write(LogLevel::info, thread, std::string(100, 'x'));
    });
  }
  for (int file = 1; file < 20; ++file) {
    EXPECT_TRUE(install_log(knobs_with("info", folder / (std::to_string(file) + ".log"))));
  }
  for (auto& thread : threads) thread.join();
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    for (const std::string& line : lines_of(entry.path())) {
      EXPECT_TRUE(line.ends_with("info: " + std::string(100, 'x'))) << line;
      ++count;
    }
  }
  EXPECT_EQ(count, static_cast<std::size_t>(kThreads * kLines));
}

TEST(Environment, IsReadByNameAndPrefix) {
  ASSERT_EQ(setenv("TUTTI_ONLY_HERE", "7", 1), 0);
  EXPECT_EQ(environment_variable("TUTTI_ONLY_HERE"), "7");
  EXPECT_EQ(environment_variable("TUTTI_ONLY"), std::nullopt);
  EXPECT_EQ(environment_names("TUTTI_ONLY"), std::vector<std::string>{"TUTTI_ONLY_HERE"});
  unsetenv("TUTTI_ONLY_HERE");
  EXPECT_TRUE(environment_names("TUTTI_ONLY").empty());
}

}  // namespace
}  // namespace tutti::os
