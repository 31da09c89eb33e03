// Our headers say what NVIDIA's say: names, values, types of functions, places of members, rounding.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"

namespace tutti {
namespace {

std::vector<std::string> lines_of(const char* program) {
  std::vector<std::string> lines;
  FILE* const pipe = popen(program, "r");
  if (pipe == nullptr) return lines;
  char line[4096];
  while (fgets(line, sizeof(line), pipe) != nullptr) lines.emplace_back(text::trim(line));
  EXPECT_EQ(pclose(pipe), 0) << program;
  return lines;
}

std::size_t count_of(const std::vector<std::string>& lines, std::string_view kind) {
  std::size_t count = 0;
  for (const auto& line : lines) count += line.starts_with(kind) ? 1 : 0;
  return count;
}

TEST(CudaHeaders, AreReadWhole) {
  const auto ours = lines_of(TUTTI_CUDART_FACTS);
  EXPECT_GT(count_of(ours, "value cudaError"), 120u);
  EXPECT_GT(count_of(ours, "value cudaDevAttr"), 130u);
  EXPECT_GT(count_of(ours, "value cudaEvent"), 5u);
  EXPECT_GT(count_of(ours, "function "), 85u);
  EXPECT_GT(count_of(ours, "offset cudaDeviceProp."), 85u);
  EXPECT_EQ(count_of(ours, "value CUDART_VERSION 13000"), 1u);
}

TEST(CudaHeaders, SayWhatThoseOfNvidiaSay) {
#ifdef TUTTI_HAS_CUDA_TOOLKIT
  const auto ours = lines_of(TUTTI_CUDART_FACTS);
  const auto theirs = lines_of(TUTTI_CUDART_FACTS_OF_NVIDIA);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]);
#else
  GTEST_SKIP() << "the headers of CUDA 13 are not installed (looked in /usr/local/cuda and CUDA_HOME)";
#endif
}

}  // namespace
}  // namespace tutti
