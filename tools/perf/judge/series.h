// Measurements of a run brought together by what was measured, so that two runs can be laid side by side.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

enum class Placement : std::uint8_t { out_of_place, in_place };
std::string_view name_of(Placement placement);  // "in place"

// What makes two measurements comparable.
struct Subject {
  std::uint64_t bytes = 0;
  std::string type;       // as new versions of nccl-tests write it: "int8" for "char"
  std::string operation;  // "none" where there is none
  int root = -1;
  Placement placement = Placement::out_of_place;

  auto operator<=>(const Subject&) const = default;
};
std::string text_of(const Subject& subject);  // "1 MiB float sum in place"

// All that a run says of one subject. A run that goes through its sizes several times (-N) has several rows of one
// subject: they count as repetitions.
struct Series {
  Subject subject;
  std::uint64_t count = 0;         // elements, of the first row
  double time_us = 0;              // the median of the repetitions
  double bus_gbps = 0;             // of the first row
  std::vector<double> repeats_us;  // at least one; all above zero
  const Row* row = nullptr;        // the first, of the run that was given
  const Measurement* measurement = nullptr;
};
// In the order of the run, out of place first. Times that are not above zero are left out. The run must outlive them.
std::vector<Series> series_of(const Run& run);

// "all_reduce" for "./build/all_reduce_perf_mpi"; empty where the program is not known.
std::string collective_name(const Run& run);
// Nothing where neither the seats nor the setup say it.
std::optional<std::size_t> rank_count(const Run& run);

}  // namespace tutti::perf
