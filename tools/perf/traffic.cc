#include "tools/perf/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "tools/perf/report/text_file.h"

namespace tutti::perf {

namespace {

constexpr std::uint64_t kAlignment = 16;
constexpr int kDimensionMax = 65536;
constexpr double kBytesMax = 1e15;  // far beyond any memory, and exact

Result<std::uint64_t> cell_of(std::string_view word, double scale) {
  const auto value = text::real_of(word);
  if (!value || !std::isfinite(*value) || *value < 0)
    return invalid_argument(fmt::format("'{}' is no number of bytes", word));
  if (*value * scale > kBytesMax) return invalid_argument(fmt::format("'{}' times {} is too large", word, scale));
  return static_cast<std::uint64_t>(*value * scale) / kAlignment * kAlignment;
}

}  // namespace

Result<Traffic> Traffic::parse(std::string_view content, const std::string& name, double scale) {
  Traffic traffic;
  int row = 0;
  for (const std::string_view line : text::split(content, '\n')) {
    const auto words = text::words(line);
    if (words.empty()) continue;
    if (traffic.dimension_ == 0)
      traffic.dimension_ = static_cast<int>(std::min<std::size_t>(words.size(), kDimensionMax));
    if (static_cast<int>(words.size()) != traffic.dimension_)
      return invalid_argument(
          fmt::format("{}: row {} has {} numbers, the first has {}", name, row, words.size(), traffic.dimension_));
    for (const std::string_view word : words) {
      auto cell = cell_of(word, scale);
      if (!cell) return cell.status().while_doing(fmt::format("{}: row {}", name, row));
      traffic.matrix_.push_back(*cell);
    }
    ++row;
  }
  if (row == 0) return invalid_argument(fmt::format("{} has no numbers; it needs a row for each rank", name));
  if (row != traffic.dimension_)
    return invalid_argument(fmt::format("{} must be square, but has {} rows of {}", name, row, traffic.dimension_));
  return traffic;
}

Result<Traffic> Traffic::read(const std::string& path, double scale) {
  const auto content = read_text(path);
  if (!content) return content.status().while_doing("the traffic matrix of NCCL_TESTS_ALLTOALLV_MATRIX_FILE");
  return parse(*content, path, scale);
}

std::uint64_t Traffic::bytes(int source, int target, int ranks, std::uint64_t total_bytes) const {
  if (is_fixed())
    return matrix_[static_cast<std::size_t>(source) * static_cast<std::size_t>(dimension_) +
                   static_cast<std::size_t>(target)];
  if (ranks == 1) return total_bytes / kAlignment * kAlignment;
  const auto total = static_cast<double>(total_bytes);
  const int distance = (target - source + ranks) % ranks;
  const double all_distances = static_cast<double>(ranks) * (ranks - 1) / 2;
  const double even = total / ranks;
  const double by_distance = distance * total / all_distances;
  return static_cast<std::uint64_t>((1 - spread_) * even + spread_ * by_distance) / kAlignment * kAlignment;
}

std::uint64_t Traffic::largest_bytes(int ranks, std::uint64_t total_bytes) const {
  std::uint64_t largest = 0;
  // What is made by distance is the same for every rank.
  for (int rank = 0; rank < (is_fixed() ? ranks : 1); ++rank) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int peer = 0; peer < ranks; ++peer) {
      sent += bytes(rank, peer, ranks, total_bytes);
      received += bytes(peer, rank, ranks, total_bytes);
    }
    largest = std::max({largest, sent, received});
  }
  return largest;
}

}  // namespace tutti::perf
