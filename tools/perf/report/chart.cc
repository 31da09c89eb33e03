#include "tools/perf/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/perf/report/text.h"

namespace tutti::perf {

namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 380;
constexpr double kLeft = 58;
constexpr double kRight = 30;
constexpr double kTop = 28;
constexpr double kBottom = 34;

struct Frame {
  Axis x;
  Axis y;
  Quantity quantity;
};

double value_of(const CurvePoint& point, Quantity quantity) {
  return quantity == Quantity::gbps ? point.bus_gbps : point.time_us;
}

// The value where an iteration takes this long.
double value_at(const CurvePoint& point, Quantity quantity, double time_us) {
  return quantity == Quantity::gbps ? point.bus_gbps_at(time_us) : time_us;
}

Frame frame_of(const std::vector<Curve>& curves, const ChartView& view) {
  std::vector<double> sizes;
  std::vector<double> values;
  for (const Curve& curve : curves) {
    if (!curve.is_shown) continue;
    for (const CurvePoint& point : curve.points) {
      sizes.push_back(static_cast<double>(point.bytes));
      values.push_back(value_of(point, view.quantity));
      values.push_back(value_at(point, view.quantity, point.p50_us));
      values.push_back(value_at(point, view.quantity, point.p99_us));
    }
  }
  Frame frame{axis_for(sizes, Quantity::bytes, view.x), axis_for(values, view.quantity, view.y), view.quantity};
  frame.x.from = kLeft;
  frame.x.to = kWidth - kRight;
  frame.y.from = kHeight - kBottom;
  frame.y.to = kTop;
  return frame;
}

std::string grid(const Frame& frame) {
  std::string svg;
  for (const Mark& mark : marks_of(frame.y, frame.quantity)) {
    const double y = frame.y.position(mark.value);
    svg += fmt::format("<line class=\"grid\" x1=\"{:g}\" x2=\"{:g}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, y, y);
    svg += fmt::format("<text class=\"mark\" x=\"{:g}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 8, y + 4,
                       html_escape(mark.label));
  }
  for (const Mark& mark : marks_of(frame.x, Quantity::bytes)) {
    const double x = frame.x.position(mark.value);
    svg += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:g}\" y2=\"{:g}\"/>", x, x, kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text class=\"mark\" x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>", x,
                       kHeight - kBottom + 20, html_escape(mark.label));
  }
  return svg + fmt::format("<text class=\"unit\" x=\"{:g}\" y=\"14\">{}</text>", kLeft,
                           frame.quantity == Quantity::gbps ? "GB/s" : "time");
}

bool can_show(const Frame& frame, const CurvePoint& point, double value) {
  return frame.x.can_show(static_cast<double>(point.bytes)) && frame.y.can_show(value);
}

std::string place(const Frame& frame, const CurvePoint& point, double value) {
  return fmt::format("{:.1f} {:.1f}", frame.x.position(static_cast<double>(point.bytes)), frame.y.position(value));
}

// From p50 along the sizes and back along p99, through the points that have them.
std::string band(const Frame& frame, const Curve& curve) {
  std::string there;
  std::string back;
  for (const CurvePoint& point : curve.points) {
    const double low = value_at(point, frame.quantity, point.p50_us);
    const double high = value_at(point, frame.quantity, point.p99_us);
    if (!can_show(frame, point, low) || !can_show(frame, point, high)) continue;
    there += (there.empty() ? "M" : "L") + place(frame, point, low);
    back = "L" + place(frame, point, high) + back;
  }
  if (there.empty()) return {};
  return fmt::format("<path class=\"band colour-{}\" d=\"{}{}Z\"/>", curve.colour, there, back);
}

std::string line(const Frame& frame, const Curve& curve) {
  std::string path;
  std::string dots;
  for (const CurvePoint& point : curve.points) {
    const double value = value_of(point, frame.quantity);
    if (!can_show(frame, point, value)) continue;
    path += (path.empty() ? "M" : "L") + place(frame, point, value);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>",
                        frame.x.position(static_cast<double>(point.bytes)), frame.y.position(value));
  }
  if (path.empty()) return {};
  const std::string names = fmt::format("colour-{} {}", curve.colour, name_of(curve.style));
  std::string svg = fmt::format("<path class=\"curve {}\" d=\"{}\"/>", names, path);
  if (curve.style != CurveStyle::estimate) svg += fmt::format("<g class=\"dots {}\">{}</g>", names, dots);
  return svg;
}

bool has_shown_points(const std::vector<Curve>& curves) {
  return std::any_of(curves.begin(), curves.end(),
                     [](const Curve& curve) { return curve.is_shown && !curve.points.empty(); });
}

}  // namespace

std::string svg_chart(const std::vector<Curve>& curves, const ChartView& view) {
  const std::string_view what = view.quantity == Quantity::gbps ? "Bus bandwidth" : "Time";
  std::string svg =
      fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{} against size\">", kWidth,
                  kHeight, what);
  if (!has_shown_points(curves)) {
    return svg + fmt::format(
                     "<text class=\"unit\" x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">Nothing was measured"
                     "</text></svg>",
                     kWidth / 2, kHeight / 2);
  }
  const Frame frame = frame_of(curves, view);
  svg += grid(frame);
  for (const Curve& curve : curves) {
    if (curve.is_shown) svg += band(frame, curve);
  }
  for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {  // the first curve lies on top
    if (curve->is_shown) svg += line(frame, *curve);
  }
  return svg + "</svg>";
}

}  // namespace tutti::perf
