// Lists of things in sentences.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>

namespace tutti::bootstrap {

// "eth0, eth1 and eth2".
inline std::string listed(std::span<const std::string> names) {
  if (names.size() < 2) return names.empty() ? "none" : names.front();
  return fmt::format("{} and {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

}  // namespace tutti::bootstrap
