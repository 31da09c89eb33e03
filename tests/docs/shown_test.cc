// Documents that show a program or its output say so in a comment in front of the block, and the block is compared:
//
//   <!-- code: examples/threads.cc -->      the whole file
//   <!-- output: examples/threads.cc -->    what the program prints
//   <!-- output like: examples/x.cc -->     the same, apart from numbers, process ids and hosts
//   <!-- command: TUTTI_LOG=x tutti env -->  what the command prints, with nothing else in its environment
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/answer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct Shown {
  std::string document;
  std::string kind;
  std::string path;
  std::string block;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The blocks of one document that have a marker. A marker without a block right after it has an empty one.
std::vector<Shown> shown_in(const std::string& document) {
  static const std::regex marker("<!-- (code|output|output like): (\\S+) -->\n```[a-z]*\n");
  const std::string text = read(fs::path(TUTTI_SOURCE_DIR) / document);
  std::vector<Shown> all;
  for (std::sregex_iterator found(text.begin(), text.end(), marker), end; found != end; ++found) {
    const auto begin = static_cast<std::size_t>(found->position() + found->length());
    const std::size_t close = text.find("\n```", begin);
    const std::string block = close == std::string::npos ? "" : text.substr(begin, close + 1 - begin);
    all.push_back({document, found->str(1), found->str(2), block});
  }
  return all;
}

std::vector<Shown> all_shown() {
  std::vector<Shown> all = shown_in("README.md");
  for (const auto& entry : fs::directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "docs/guide")) {
    if (entry.path().extension() != ".md") continue;
    const auto some = shown_in("docs/guide/" + entry.path().filename().string());
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// "examples/nccl/one_thread.cc": "example_nccl_one_thread".
std::string program_of(const fs::path& path) {
  const fs::path place = path.lexically_relative("examples").replace_extension();
  std::string name = "example";
  for (const fs::path& part : place) name += "_" + part.string();
  return name;
}

// What differs between machines and runs, made the same.
std::string without_accidents(std::string text) {
  text = std::regex_replace(text, std::regex("\\(pid [0-9]+ on [^)]*\\)"), "(pid N on HOST)");
  text = std::regex_replace(text, std::regex("[0-9.]+ (ns|us|ms|s|B|KiB|MiB|GiB)\\b"), "N");
  return std::regex_replace(text, std::regex("[0-9]+"), "N");
}

TEST(Documents, ShowTheExamplesAsTheyAre) {
  std::size_t count = 0;
  for (const Shown& shown : all_shown()) {
    if (shown.kind != "code") continue;
    ++count;
    EXPECT_EQ(shown.block, read(fs::path(TUTTI_SOURCE_DIR) / shown.path)) << shown.document << ": " << shown.path;
  }
  EXPECT_GE(count, 9u) << "the markers are no longer found";
}

TEST(Documents, ShowWhatTheExamplesPrint) {
  std::size_t count = 0;
  for (const Shown& shown : all_shown()) {
    if (shown.kind == "code") continue;
    ++count;
    const Answer answer = shell(std::string(TUTTI_BINARY_DIR) + "/bin/" + program_of(shown.path));
    EXPECT_EQ(answer.exit_code, 0) << shown.path << ": " << answer.text;
    const bool is_exact = shown.kind == "output";
    EXPECT_EQ(is_exact ? shown.block : without_accidents(shown.block),
              is_exact ? answer.text : without_accidents(answer.text))
        << shown.document << ": " << shown.path;
  }
  EXPECT_GE(count, 6u) << "the markers are no longer found";
}

TEST(Documents, ShowWhatTheCommandPrints) {
  static const std::regex marker("<!-- command: ([^\n]*?)tutti ([^\n]*) -->\n```[a-z]*\n");
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "docs/guide")) {
    const std::string text = read(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), marker), end; found != end; ++found) {
      ++count;
      const auto begin = static_cast<std::size_t>(found->position() + found->length());
      const std::string block = text.substr(begin, text.find("```", begin) - begin);
      const std::string line = "env -i " + found->str(1) + TUTTI_COMMAND + " " + found->str(2);
      EXPECT_EQ(block, shell("( " + line + " )").text) << entry.path() << ": " << found->str();
    }
  }
  EXPECT_GE(count, 3u) << "the markers are no longer found";
}

TEST(Documents, ShowEveryExampleAndNameNoOther) {
  std::set<std::string> shown;
  for (const Shown& each : all_shown()) {
    EXPECT_TRUE(fs::exists(fs::path(TUTTI_SOURCE_DIR) / each.path)) << each.document << ": " << each.path;
    if (each.kind == "code") shown.insert(each.path);
  }
  for (const auto& entry : fs::directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "examples")) {
    if (entry.path().extension() != ".cc") continue;
    EXPECT_TRUE(shown.contains("examples/" + entry.path().filename().string())) << entry.path();
  }
}

// Relative links of all documents lead to files.
TEST(Documents, LinkToWhatExists) {
  static const std::regex link("\\]\\(([^)#: &*]+)(#[^)]*)?\\)");
  const fs::path root = TUTTI_SOURCE_DIR;
  for (const char* folder : {".", "docs", "src", "tests", "examples", "tools", "bench"}) {
    std::vector<fs::path> documents;
    if (std::string_view(folder) == ".") {
      for (const auto& entry : fs::directory_iterator(root)) documents.push_back(entry.path());
    } else {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) documents.push_back(entry.path());
    }
    for (const fs::path& document : documents) {
      if (document.extension() != ".md") continue;
      const std::string text = read(document);
      for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
        EXPECT_TRUE(fs::exists(document.parent_path() / found->str(1))) << document << ": " << found->str();
      }
    }
  }
}

}  // namespace
}  // namespace tutti
