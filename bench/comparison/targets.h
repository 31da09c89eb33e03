// What Tutti means to reach against the best peer and against the bound of the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/comparison/samples.h"

namespace tutti::bench {

enum class BufferKind { malloc, allocated };

// What lies between the ranks. They fill one host after the other, the same number each.
struct Network {
  int host_count = 1;
  int rail_count = 1;
  std::uint64_t bits_per_second = 0;  // of each rail and direction, with the headers of packets; 0: not limited
  int mtu = 1500;
};

// The least that the best peer's time divided by Tutti's shall be; nothing: no target was set.
std::optional<double> ratio_target(const Case& what, BufferKind kind, const Network& network = {});

// The least share of the bound, or of the line between hosts; nothing: it says nothing about such a case.
std::optional<double> bound_target(const Case& what, BufferKind kind, const Network& network = {});

// How long the lines between the hosts take for an all_reduce that sends nothing twice and no rail idle: each host
// sends and receives 2 (hosts - 1) / hosts of the vector as the payload of full packets of TCP. Nothing: no limit.
std::optional<double> line_s(const Case& what, const Network& network);

// What was reached beside what was meant to be.
struct Mark {
  double value = 0;
  std::optional<double> target;
  bool is_met() const { return !target || value >= *target; }
};
struct Score {
  Best tutti;
  std::optional<Mark> ratio;     // against the best peer; nothing: no peer took part
  std::optional<Mark> of_bound;  // or of the line between hosts; nothing: neither is known
};
// Nothing: Tutti did not take part with such buffers.
std::optional<Score> score_of(const Samples& samples, const Case& what, BufferKind kind, const Network& network = {});

}  // namespace tutti::bench
