// Runs the command tutti, for tests that look at what a person would see.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"

namespace tutti {

struct Answer {
  int exit_code = -1;
  std::string text;  // stdout and stderr together
};

inline Answer shell(const std::string& line) {
  std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
  Answer answer;
  if (pipe == nullptr) return answer;
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    answer.text.append(buffer.data(), n);
  }
  const int status = ::pclose(pipe);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

inline Answer tutti(const std::string& arguments) { return shell(std::string(TUTTI_COMMAND) + " " + arguments); }

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The exit code, and one sentence on one line that holds the part.
inline void expect_error(int exit_code, const std::string& arguments, std::string_view part) {
  const Answer answer = tutti(arguments);
  EXPECT_EQ(answer.exit_code, exit_code) << arguments;
  EXPECT_TRUE(contains(answer.text, part)) << arguments << ": " << answer.text;
  EXPECT_EQ(text::split(answer.text, '\n').size(), 2u) << "one sentence on one line: " << answer.text;
}
inline void expect_usage_error(const std::string& arguments, std::string_view part) {
  expect_error(2, arguments, part);
}

}  // namespace tutti
