// What the program `who` says when it was started on some hosts.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "tests/nccl/launch.h"

namespace tutti::programs {

using lab::has_program;

inline std::string who() { return std::string(TUTTI_PROGRAMS) + "/who"; }

// Those that `who` has written, in the order of ranks; whatever else was written is left out.
inline std::string answers_in(const std::string& output) {
  std::vector<std::string> lines;
  for (const std::string_view line : text::split(output, '\n')) {
    if (line.starts_with("rank ")) lines.emplace_back(line);
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// With so many processes on each of the hosts, which have consecutive ranks.
inline std::string answers_of(const std::string& launcher, const std::vector<std::string>& hosts, int per_host) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) names.insert(names.end(), static_cast<std::size_t>(per_host), host);
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    lines.push_back(fmt::format("rank {} of {}, {} of {} here, by {}: {}", rank, names.size(),
                                rank % static_cast<std::size_t>(per_host), per_host, launcher, fmt::join(names, " ")));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace tutti::programs
