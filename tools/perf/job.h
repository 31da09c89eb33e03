// What all threads of a run share, and what one row of its table is about.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/perf/collective.h"
#include "tools/perf/crew.h"
#include "tools/perf/element.h"
#include "tools/perf/options.h"
#include "tools/perf/station.h"
#include "tools/perf/traffic.h"

namespace tutti::perf {

struct Job {
  const Options& options;
  const Collective& collective;
  const Traffic& traffic;
  std::vector<std::uint64_t> sizes;
  std::uint64_t buffer_bytes = 0;  // of each buffer, guards aside
  int ranks = 1;                   // of a communicator
  int process = 0;
  Crew& crew;
};

enum class Place : std::uint8_t { out_of_place, in_place };

// One row, out of place or in place.
struct Case {
  const ElementType& type;
  Operation operation;
  int root;
  Shape shape;
  Place place;

  Layout layout(const Collective& collective) const { return collective.layout(shape); }
};

// Where the buffers of a call lie. In place both are parts of the receive buffer.
struct Buffers {
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
};
// `shift` is in bytes, from where buffers begin.
Buffers buffers_of(const Job& job, const Case& test, const Station& station, std::uint64_t shift);

// Begins the call on all stations of a thread, the `iteration`th: each uses another part of the buffers, so that caches
// do not hold what a program would have to fetch.
Status start_calls(const Job& job, const Case& test, std::span<const Station> stations, std::uint64_t iteration);

}  // namespace tutti::perf
