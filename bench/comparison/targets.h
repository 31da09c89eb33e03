// What Tutti means to reach against the best peer and against the bound of the machine.
#pragma once

#include <optional>

#include "bench/comparison/samples.h"

namespace tutti::bench {

enum class BufferKind { malloc, allocated };

// The least that the best peer's time divided by Tutti's shall be; nothing: no target was set.
std::optional<double> ratio_target(const Case& what, BufferKind kind);

// The least share of the bound; nothing: the bound says nothing about such a case.
std::optional<double> bound_target(const Case& what, BufferKind kind);

// What was reached beside what was meant to be.
struct Mark {
  double value = 0;
  std::optional<double> target;
  bool is_met() const { return !target || value >= *target; }
};
struct Score {
  Best tutti;
  std::optional<Mark> ratio;     // against the best peer; nothing: no peer took part
  std::optional<Mark> of_bound;  // nothing: no bound was measured
};
// Nothing: Tutti did not take part with such buffers.
std::optional<Score> score_of(const Samples& samples, const Case& what, BufferKind kind);

}  // namespace tutti::bench
