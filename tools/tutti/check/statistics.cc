#include "tools/tutti/check/statistics.h"

#include <algorithm>

namespace tutti::tool::check {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double clock_offset_s(std::span<const ClockSample> samples) {
  if (samples.empty()) return 0;
  const auto best = std::ranges::min_element(
      samples, {}, [](const ClockSample& sample) { return sample.answered_ns - sample.asked_ns; });
  const double middle = static_cast<double>(best->answered_ns - best->asked_ns) / 2;
  return (static_cast<double>(best->theirs_ns - best->asked_ns) - middle) / 1e9;
}

}  // namespace tutti::tool::check
