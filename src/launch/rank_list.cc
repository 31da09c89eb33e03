#include "launch/rank_list.h"

#include <fmt/format.h>

#include <vector>

namespace tutti::launch {

std::string ranks_text(std::span<const Rank> sorted) {
  constexpr std::size_t kRangesMax = 8;
  if (sorted.empty()) return {};
  std::vector<std::string> parts;
  std::size_t index = 0;
  while (index < sorted.size() && parts.size() < kRangesMax) {
    std::size_t last = index;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (last - index < 2) last = index;  // "3, 4" reads better than "3-4"
    parts.push_back(last == index ? fmt::format("{}", sorted[index])
                                  : fmt::format("{}-{}", sorted[index], sorted[last]));
    index = last + 1;
  }
  if (index < sorted.size()) parts.push_back(fmt::format("{} more", sorted.size() - index));
  std::string text = sorted.size() == 1 ? "rank " : "ranks ";
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (part > 0) text += part + 1 == parts.size() ? " and " : ", ";
    text += parts[part];
  }
  return text;
}

}  // namespace tutti::launch
