// A chart as SVG, for readers whose browser runs no scripts; report/chart.js draws the same where it does.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/report/axis.h"
#include "tools/perf/report/curves.h"

namespace tutti::perf {

struct ChartView {
  Quantity quantity = Quantity::gbps;  // of the y axis
  Scale x = Scale::logarithmic;
  Scale y = Scale::linear;
};

// The curves that are shown. Colours come from the classes of the page's style.
std::string svg_chart(const std::vector<Curve>& curves, const ChartView& view);

}  // namespace tutti::perf
