// What a check of several hosts has found: their reports, and a measurement of every pair. Pure values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/check/host_report.h"
#include "tutti/types.h"

namespace tutti::tool::check {

// Between hosts `a` and `b`, a < b.
struct Pair {
  Rank a = 0;
  Rank b = 0;
  std::string failure = {};      // empty: it was measured
  double latency_s = 0;          // one way
  double there_bytes_per_s = 0;  // from a to b
  double back_bytes_per_s = 0;
  double clock_offset_s = 0;  // of b's clock over a's
  std::string way = {};       // the interfaces or addresses that were used
  bool operator==(const Pair&) const = default;
};

struct CheckedHost {
  std::string name = {};     // as the user gave it
  std::string failure = {};  // why there is no report, or why it is no use
  std::optional<HostReport> report = {};
};

struct Cluster {
  std::vector<CheckedHost> hosts = {};
  std::vector<Pair> pairs = {};  // those that were measured or tried
};

// A number from every host to every other; nullopt: not known.
class Grid {
 public:
  explicit Grid(std::size_t size) : size_(size), cells_(size * size) {}
  std::size_t size() const { return size_; }
  std::optional<double>& at(std::size_t from, std::size_t to) { return cells_[from * size_ + to]; }
  const std::optional<double>& at(std::size_t from, std::size_t to) const { return cells_[from * size_ + to]; }
  double median() const;  // of those that are known; 0 of none

 private:
  std::size_t size_;
  std::vector<std::optional<double>> cells_;
};

Grid latencies_of(const Cluster& cluster);   // seconds, the same both ways
Grid bandwidths_of(const Cluster& cluster);  // bytes per second

// How far each clock is ahead of that of the first host, as far as chains of measured pairs lead there.
std::vector<std::optional<double>> clock_offsets_of(const Cluster& cluster);

}  // namespace tutti::tool::check
