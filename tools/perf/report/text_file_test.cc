#include "tools/perf/report/text_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tutti::perf {
namespace {

TEST(TextFile, IsReadAsItWasWrittenAndFailuresNameIt) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("text_file_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "file";
  const std::string content("two lines\nand a zero: \0\n", 24);
  ASSERT_TRUE(write_text(path, content));
  EXPECT_EQ(*read_text(path), content);
  ASSERT_TRUE(write_text(path, ""));
  EXPECT_EQ(*read_text(path), "");
  const std::string nowhere = folder / "no" / "file";
  EXPECT_EQ(read_text(nowhere).status().text(), "cannot read " + nowhere + ": No such file or directory");
  EXPECT_EQ(write_text(nowhere, "").text(), "cannot write " + nowhere + ": No such file or directory");
  EXPECT_FALSE(read_text(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tutti::perf
