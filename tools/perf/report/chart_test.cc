#include "tools/perf/report/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/perf/report/invented_run_for_test.h"

namespace tutti::perf {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels_of(const Axis& axis, Quantity quantity) {
  std::vector<std::string> labels;
  for (const Mark& mark : marks_of(axis, quantity)) labels.push_back(mark.label);
  return labels;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

using Labels = std::vector<std::string>;

TEST(ReportAxis, MarksSizesByPowersOfTwo) {
  const Axis axis = axis_for({8, 67108864}, Quantity::bytes, Scale::logarithmic);
  EXPECT_EQ(labels_of(axis, Quantity::bytes),
            (Labels{"8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB"}));
  EXPECT_EQ(axis.position(8), 0);
  EXPECT_EQ(axis.position(67108864), 1);
  const Axis linear = axis_for({8, 67108864}, Quantity::bytes, Scale::linear);
  EXPECT_EQ(labels_of(linear, Quantity::bytes).front(), "0 B");
  EXPECT_EQ(labels_of(linear, Quantity::bytes).back(), "64 MiB");
}

TEST(ReportAxis, MarksTimesWithTheirUnits) {
  const Axis axis = axis_for({9, 2500}, Quantity::microseconds, Scale::logarithmic);
  EXPECT_EQ(labels_of(axis, Quantity::microseconds), (Labels{"1 µs", "10 µs", "100 µs", "1 ms", "10 ms"}));
  const Axis linear = axis_for({9, 2500}, Quantity::microseconds, Scale::linear);
  EXPECT_EQ(labels_of(linear, Quantity::microseconds), (Labels{"0", "1 ms", "2 ms", "3 ms"}));
}

TEST(ReportAxis, HasRoomForOneValueForNoneAndForNonsense) {
  for (const std::vector<double>& values : {std::vector<double>{}, {0}, {kNan, -1}, {5}, {1e-300}, {1e300}}) {
    for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
      for (const Quantity quantity : {Quantity::bytes, Quantity::gbps, Quantity::microseconds}) {
        const Axis axis = axis_for(values, quantity, scale);
        EXPECT_LT(axis.low, axis.high);
        EXPECT_LE(marks_of(axis, quantity).size(), 12u);
      }
    }
  }
}

TEST(ReportCurves, AreOnePerRunAndPlaceAndAnEstimate) {
  const auto curves = curves_of(invented_run(), {{"NCCL", invented_run(2)}});
  Labels labels;
  for (const Curve& curve : curves) labels.push_back(curve.label);
  EXPECT_EQ(labels, (Labels{"this run, out of place", "this run, in place", "this run, estimate", "NCCL, out of place",
                            "NCCL, in place"}));
  EXPECT_EQ(curves[0].colour, curves[1].colour);
  EXPECT_NE(curves[0].colour, curves[3].colour);
  EXPECT_TRUE(curves[3].is_shown);
  EXPECT_FALSE(curves[4].is_shown);
  EXPECT_FALSE(std::isnan(curves[0].points[0].p99_us));
  EXPECT_TRUE(std::isnan(curves[3].points[0].p99_us));
}

TEST(ReportCurves, KeepTypesAndOperationsApartAndShowOnlyAFew) {
  perf::Run run;
  for (int i = 0; i < 2 * kCurveColours; ++i) {
    Row& row = run.rows.emplace_back();
    row.type = "type" + std::to_string(i);
    row.operation = "sum";
    row.root = i;
    row.out_of_place.emplace();
  }
  const auto curves = curves_of(run, {});
  ASSERT_EQ(curves.size(), std::size_t{2} * kCurveColours);
  EXPECT_EQ(curves[1].label, "this run, type1 sum root 1, out of place");
  EXPECT_EQ(std::count_if(curves.begin(), curves.end(), [](const Curve& curve) { return curve.is_shown; }),
            kCurveColours);
}

TEST(ReportCurves, AreSortedBySize) {
  perf::Run run = invented_run();
  std::reverse(run.rows.begin(), run.rows.end());
  EXPECT_EQ(curves_of(run, {})[0].points.front().bytes, 8u);
}

TEST(ReportChart, DrawsEveryPointOfTheCurvesThatAreShown) {
  auto curves = curves_of(invented_run(), {});
  const std::string all = svg_chart(curves, {});
  EXPECT_EQ(count_of(all, "class=\"curve"), 3u);
  EXPECT_EQ(count_of(all, "<circle"), 48u);
  EXPECT_EQ(count_of(all, "class=\"band"), 1u);
  curves[0].is_shown = false;
  EXPECT_EQ(count_of(svg_chart(curves, {}), "class=\"curve"), 2u);
  EXPECT_EQ(count_of(svg_chart(curves, {}), "class=\"band"), 0u);
}

TEST(ReportChart, LeavesOutWhatAScaleCannotShow) {
  Curve curve{
      "c", CurveStyle::out_of_place, 0, true, {{0, 1, 0, kNan, kNan}, {8, 2, kNan, kNan, kNan}, {16, 3, 4, 3, 5}}};
  const std::string logarithmic = svg_chart({curve}, {Quantity::gbps, Scale::logarithmic, Scale::logarithmic});
  EXPECT_EQ(count_of(logarithmic, "<circle"), 1u);
  const std::string linear = svg_chart({curve}, {Quantity::gbps, Scale::linear, Scale::linear});
  EXPECT_EQ(count_of(linear, "<circle"), 2u);
  EXPECT_EQ(count_of(linear, "nan"), 0u);
}

TEST(ReportChart, SaysThatNothingWasMeasured) {
  EXPECT_EQ(count_of(svg_chart({}, {}), "class=\"curve"), 0u);
  EXPECT_EQ(count_of(svg_chart({}, {}), "Nothing was measured"), 1u);
}

}  // namespace
}  // namespace tutti::perf
