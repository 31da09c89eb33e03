// An axis of a chart: where values lie on it, and which of them are named beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::perf {

enum class Scale : std::uint8_t { linear, logarithmic };
enum class Quantity : std::uint8_t { bytes, gbps, microseconds };

struct Mark {
  double value = 0;
  std::string label;  // empty: a line without a name
};

// Pixels run from `from` (the low end) to `to`.
struct Axis {
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  bool can_show(double value) const;  // no logarithm shows zero
  double position(double value) const;
};

// An axis that has room for all these values; those that it cannot show do not count.
Axis axis_for(const std::vector<double>& values, Quantity quantity, Scale scale);
std::vector<Mark> marks_of(const Axis& axis, Quantity quantity);

}  // namespace tutti::perf
