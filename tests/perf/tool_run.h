// Runs the perf tools as people do and takes their tables apart.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "tests/network/lab/process.h"

namespace tutti::perf {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

inline constexpr std::chrono::seconds kLimit(120);
inline constexpr int kOvertime = -1;

struct Ending {
  int exit_code = kOvertime;
  std::string output;  // stdout and stderr together

  bool says(std::string_view part) const { return output.find(part) != std::string::npos; }
};

inline std::string tool_path(const std::string& name) { return std::string(TUTTI_PROGRAMS) + "/" + name + "_perf"; }

inline Ending run(const Words& words, const Environment& environment = {}) {
  auto process = lab::Process::start(lab::kThisMachine, {.words = words, .environment = environment});
  if (!process) return {kOvertime, std::string(process.status().text())};
  const auto code = process->wait(kLimit);
  return {code.value_or(kOvertime), process->output()};
}

// In place these two receive where they send from, as nccl-tests has it: a race between copies that is theirs.
inline bool races_in_place(const std::string& name) { return name == "sendrecv" || name == "alltoallv"; }

// "all_reduce" and its words, as one line.
inline Ending perf(const std::string& name, const std::string& line, Environment environment = {}) {
  Words words = {tool_path(name)};
  for (const std::string_view word : text::words(line)) words.emplace_back(word);
  if (races_in_place(name)) environment.emplace("TSAN_OPTIONS", "report_bugs=0");
  return run(words, environment);
}

// all_reduce_perf with the functions of faulty_nccl.cc.
inline Ending faulty(const std::string& fault, const std::string& line) {
  Words words = {TUTTI_FAULTY};
  for (const std::string_view word : text::words(line)) words.emplace_back(word);
  return run(words, {{"PERF_TEST_FAULT", fault}});
}

// The words of each row of the table. That of hypercube names no operation.
inline std::vector<std::vector<std::string>> rows_in(const std::string& output) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : text::split(output, '\n')) {
    const auto words = text::words(line);
    if (words.size() < 12 || !text::integer_of<std::uint64_t>(words[0])) continue;
    rows.emplace_back(words.begin(), words.end());
    if (words.size() == 12) rows.back().insert(rows.back().begin() + 3, "");
  }
  return rows;
}

inline constexpr std::size_t kSize = 0, kType = 2, kOperation = 3, kRoot = 4, kTime = 5, kWrong = 8, kWrongInPlace = 12;

// It ended well, and every row that was checked has no wrong element.
inline void expect_right(const Ending& ending, std::size_t row_count) {
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_TRUE(ending.says("# Out of bounds values : 0 OK")) << ending.output;
  const auto rows = rows_in(ending.output);
  EXPECT_EQ(rows.size(), row_count) << ending.output;
  for (const auto& row : rows) {
    EXPECT_EQ(row[kWrong], "0") << ending.output;
    EXPECT_TRUE(row[kWrongInPlace] == "0" || row[kWrongInPlace] == "N/A") << ending.output;
  }
}

inline std::size_t count_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A folder for the files of a test, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "perf_test_XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tutti::perf
