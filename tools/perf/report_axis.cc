#include "tools/perf/report_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tutti::perf {

namespace {

constexpr double kMarksMax = 9;         // of sizes, that their names stay apart
constexpr double kLinearMarks = 5;      // about as many lines a linear scale gets
constexpr double kDecadesOfDetail = 2;  // up to here lines stand between powers of ten too

std::string label_of(double value, Quantity quantity) {
  constexpr double kBytesMax = 1e19;  // an axis may reach beyond the largest size
  if (quantity == Quantity::bytes) return text::bytes_text(static_cast<std::uint64_t>(std::min(value, kBytesMax)));
  if (quantity == Quantity::gbps || value == 0) return fmt::format("{:g}", value);
  if (value >= 1e6) return fmt::format("{:g} s", value / 1e6);
  return value >= 1e3 ? fmt::format("{:g} ms", value / 1e3) : fmt::format("{:g} µs", value);
}

// 1, 2 or 5 times a power of ten.
double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double units = rough / power;
  return power * (units > 5 ? 10 : units > 2 ? 5 : units > 1 ? 2 : 1);
}

double linear_step(const Axis& axis, Quantity quantity) {
  if (quantity == Quantity::bytes) return std::exp2(std::ceil(std::log2(axis.high / (kMarksMax - 1))));
  return round_step(axis.high / kLinearMarks);
}

std::vector<Mark> linear_marks(const Axis& axis, Quantity quantity) {
  std::vector<Mark> marks;
  const double step = linear_step(axis, quantity);
  for (int i = 0; i * step <= axis.high * 1.0001; ++i) marks.push_back({i * step, label_of(i * step, quantity)});
  return marks;
}

std::vector<Mark> powers_of_two(const Axis& axis) {
  std::vector<Mark> marks;
  const double first = std::ceil(std::log2(axis.low) - 1e-9);
  const double last = std::floor(std::log2(axis.high) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first + 1) / kMarksMax));
  for (double power = first; power <= last; power += step) {
    marks.push_back({std::exp2(power), label_of(std::exp2(power), Quantity::bytes)});
  }
  return marks;
}

std::vector<Mark> powers_of_ten(const Axis& axis, Quantity quantity) {
  std::vector<Mark> marks;
  const bool is_short = std::log10(axis.high / axis.low) <= kDecadesOfDetail + 0.001;
  for (double power = std::round(std::log10(axis.low)); power <= std::log10(axis.high) + 1e-9; ++power) {
    const double value = std::pow(10, power);
    marks.push_back({value, label_of(value, quantity)});
    for (const double factor : {2.0, 5.0}) {
      if (is_short && factor * value < axis.high) marks.push_back({factor * value, label_of(factor * value, quantity)});
    }
  }
  return marks;
}

}  // namespace

bool Axis::can_show(double value) const { return std::isfinite(value) && (scale == Scale::linear || value > 0); }

double Axis::position(double value) const {
  const double share =
      scale == Scale::linear ? (value - low) / (high - low) : std::log(value / low) / std::log(high / low);
  return from + (to - from) * share;
}

Axis axis_for(const std::vector<double>& values, Quantity quantity, Scale scale) {
  Axis axis{.scale = scale};
  std::vector<double> shown;
  std::copy_if(values.begin(), values.end(), std::back_inserter(shown), [&](double v) { return axis.can_show(v); });
  if (shown.empty()) shown = {1};
  const auto [least, most] = std::minmax_element(shown.begin(), shown.end());
  axis.low = *least;
  axis.high = *most;
  if (scale == Scale::linear) {
    axis.low = 0;
    if (axis.high <= 0) axis.high = 1;
    if (quantity != Quantity::bytes) {
      const double step = linear_step(axis, quantity);
      axis.high = step * std::ceil(axis.high / step * 1.0001);
    }
  } else if (quantity == Quantity::bytes) {
    if (axis.high < axis.low * 2) axis = {scale, axis.low / 2, axis.high * 2, 0, 1};
  } else {
    axis.low = std::pow(10, std::floor(std::log10(axis.low)));
    axis.high = std::pow(10, std::ceil(std::log10(axis.high)));
    if (axis.high <= axis.low) axis.high = axis.low * 10;
  }
  return axis;
}

std::vector<Mark> marks_of(const Axis& axis, Quantity quantity) {
  if (axis.scale == Scale::linear) return linear_marks(axis, quantity);
  return quantity == Quantity::bytes ? powers_of_two(axis) : powers_of_ten(axis, quantity);
}

}  // namespace tutti::perf
