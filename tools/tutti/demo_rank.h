// What one rank of `tutti demo` does: verified all-reduces of growing size, of which rank 0 prints a table.
#pragma once

#include <cstdint>
#include <string>

#include "tutti/types.h"

namespace tutti::tool {

struct DemoOptions {
  Rank ranks = 4;
  std::uint64_t bytes_min = 8;
  std::uint64_t bytes_max = 64 << 20;
  std::string memory = "shared";
};

// The exit code of the rank: 0 when every value was right.
int run_demo_rank(const DemoOptions& options, Rank rank, const std::string& store);

}  // namespace tutti::tool
