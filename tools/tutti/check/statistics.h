// Numbers of many measurements in one. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::tool::check {

double median_of(std::vector<double> values);  // 0 of none

// One question about another host's clock: when it was asked and answered here, and what the answer was. All are wall
// clocks, in nanoseconds.
struct ClockSample {
  std::int64_t asked_ns = 0;
  std::int64_t theirs_ns = 0;
  std::int64_t answered_ns = 0;
};

// How far the other clock is ahead, in seconds: by the sample that took the shortest time, since the answer was given
// somewhere within it. 0 of none.
double clock_offset_s(std::span<const ClockSample> samples);

}  // namespace tutti::tool::check
