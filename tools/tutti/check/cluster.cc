#include "tools/tutti/check/cluster.h"

#include "tools/tutti/check/statistics.h"

namespace tutti::tool::check {

double Grid::median() const {
  std::vector<double> known;
  for (const auto& cell : cells_) {
    if (cell) known.push_back(*cell);
  }
  return median_of(std::move(known));
}

Grid latencies_of(const Cluster& cluster) {
  Grid grid(cluster.hosts.size());
  for (const Pair& pair : cluster.pairs) {
    if (!pair.failure.empty()) continue;
    grid.at(static_cast<std::size_t>(pair.a), static_cast<std::size_t>(pair.b)) = pair.latency_s;
    grid.at(static_cast<std::size_t>(pair.b), static_cast<std::size_t>(pair.a)) = pair.latency_s;
  }
  return grid;
}

Grid bandwidths_of(const Cluster& cluster) {
  Grid grid(cluster.hosts.size());
  for (const Pair& pair : cluster.pairs) {
    if (!pair.failure.empty()) continue;
    grid.at(static_cast<std::size_t>(pair.a), static_cast<std::size_t>(pair.b)) = pair.there_bytes_per_s;
    grid.at(static_cast<std::size_t>(pair.b), static_cast<std::size_t>(pair.a)) = pair.back_bytes_per_s;
  }
  return grid;
}

std::vector<std::optional<double>> clock_offsets_of(const Cluster& cluster) {
  std::vector<std::optional<double>> offsets(cluster.hosts.size());
  if (offsets.empty()) return offsets;
  offsets[0] = 0;
  // Every round brings at least one more host or is the last.
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const Pair& pair : cluster.pairs) {
      if (!pair.failure.empty()) continue;
      auto& a = offsets[static_cast<std::size_t>(pair.a)];
      auto& b = offsets[static_cast<std::size_t>(pair.b)];
      if (a.has_value() == b.has_value()) continue;
      if (a) {
        b = *a + pair.clock_offset_s;
      } else {
        a = *b - pair.clock_offset_s;
      }
      has_grown = true;
    }
  }
  return offsets;
}

}  // namespace tutti::tool::check
