// The timeline for people: a picture (SVG) and a trace for chrome://tracing and ui.perfetto.dev.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tutti/simulate.h"

namespace tutti::plan {

namespace {

constexpr double kWidth = 1200;
constexpr double kLeft = 110;
constexpr double kRight = 40;
constexpr double kTop = 64;
constexpr std::size_t kRowsMax = 64;  // a picture of more rows is grey; the trace has them all

struct Row {
  Rank rank;
  std::uint32_t lane;
};

enum class Kind : std::uint8_t { token, copy, reduce };

Kind kind_of(const Step& step) {
  if (!step.has_value()) return Kind::token;
  return step.source_count + (step.receive_from != kNoRank ? 1 : 0) > 1 ? Kind::reduce : Kind::copy;
}

std::string_view colour_of(Kind kind) {
  switch (kind) {
    case Kind::token: return "#9e9e9e";
    case Kind::copy: return "#1f77b4";
    case Kind::reduce: return "#d95f02";
  }
  return "#000000";
}

std::string escape(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::vector<Row> rows_of(const Plan& plan) {
  std::vector<Row> rows;
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const auto& lanes = plan.programs[static_cast<std::size_t>(rank)].lanes;
    for (std::uint32_t lane = 0; lane < lanes.size() && rows.size() < kRowsMax; ++lane) {
      if (!lanes[lane].empty()) rows.push_back({rank, lane});
    }
  }
  return rows;
}

// 1, 2 or 5 times a power of ten, so that the axis has five to ten marks.
double round_step(double end_s) {
  const double power = std::pow(10, std::floor(std::log10(end_s / 5)));
  const double units = end_s / 5 / power;
  return power * (units >= 5 ? 5 : units >= 2 ? 2 : 1);
}

double x_of(double time_s, double end_s) { return kLeft + (kWidth - kLeft - kRight) * time_s / end_s; }

void draw_axis(std::back_insert_iterator<std::string> out, double end_s, double bottom) {
  const double step_s = round_step(end_s);
  for (int mark = 0; mark * step_s <= end_s; ++mark) {
    const double x = x_of(mark * step_s, end_s);
    fmt::format_to(out, "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2:.1f}' stroke='#dddddd'/>\n", x, kTop, bottom);
    fmt::format_to(out, "<text x='{:.1f}' y='{:.1f}' text-anchor='middle' fill='#555555'>{}</text>\n", x, bottom + 16,
                   mark == 0 ? "0" : text::seconds_text(mark * step_s));
  }
}

}  // namespace

std::string draw_svg(const Plan& plan, const Timeline& timeline, std::string_view title) {
  const auto rows = rows_of(plan);
  const double height = rows.size() > 32 ? 10 : 18;
  const double bottom = kTop + static_cast<double>(rows.size()) * height;
  double end_s = 1e-12;
  for (const Span& span : timeline.spans) end_s = std::max(end_s, span.end_s);

  std::string svg;
  const std::back_insert_iterator<std::string> out(svg);
  fmt::format_to(
      out,
      "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{:.0f}' font-family='sans-serif' font-size='11'>\n",
      kWidth, bottom + 28);
  fmt::format_to(out, "<rect width='100%' height='100%' fill='white'/>\n<text x='12' y='22' font-size='15'>{}</text>\n",
                 escape(title));
  double x = 12;
  for (const auto& [kind, label] :
       {std::pair{Kind::copy, "copy or send"}, {Kind::reduce, "reduce"}, {Kind::token, "token"}}) {
    fmt::format_to(out, "<rect x='{}' y='34' width='12' height='12' fill='{}'/><text x='{}' y='44'>{}</text>\n", x,
                   colour_of(kind), x + 16, label);
    x += 110;
  }
  if (rows.size() == kRowsMax) {
    fmt::format_to(out, "<text x='{}' y='44' fill='#555555'>the first {} lanes of {} ranks</text>\n", x, kRowsMax,
                   plan.ranks);
  }
  draw_axis(out, end_s, bottom);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::format_to(out, "<text x='12' y='{:.1f}' font-size='{}'>rank {} lane {}</text>\n",
                   kTop + (static_cast<double>(i) + 0.75) * height, height > 12 ? 11 : 8, rows[i].rank, rows[i].lane);
  }
  for (const Span& span : timeline.spans) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& r) { return r.rank == span.rank && r.lane == span.lane; });
    if (row == rows.end()) continue;
    const Lane& lane = plan.programs[static_cast<std::size_t>(span.rank)].lanes[span.lane];
    fmt::format_to(out,
                   "<rect x='{:.2f}' y='{:.1f}' width='{:.2f}' height='{:.1f}' fill='{}' stroke='white' "
                   "stroke-width='0.4'><title>{}</title></rect>\n",
                   x_of(span.begin_s, end_s), kTop + static_cast<double>(row - rows.begin()) * height + 1,
                   std::max(0.6, x_of(span.end_s, end_s) - x_of(span.begin_s, end_s)), height - 2,
                   colour_of(kind_of(lane[span.step])),
                   escape(fmt::format("step {} tile {}: {} ({} to {})", span.step, span.tile,
                                      print_step(lane, span.step, span.rank), text::seconds_text(span.begin_s),
                                      text::seconds_text(span.end_s))));
  }
  svg += "</svg>\n";
  return svg;
}

std::string write_trace(const Plan& plan, const Timeline& timeline) {
  nlohmann::json events = nlohmann::json::array();
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    events.push_back(
        {{"ph", "M"}, {"name", "process_name"}, {"pid", rank}, {"args", {{"name", fmt::format("rank {}", rank)}}}});
  }
  for (const Span& span : timeline.spans) {
    const Lane& lane = plan.programs[static_cast<std::size_t>(span.rank)].lanes[span.lane];
    events.push_back({{"ph", "X"},
                      {"name", print_step(lane, span.step, span.rank)},
                      {"cat", plan.algorithm},
                      {"pid", span.rank},
                      {"tid", span.lane},
                      {"ts", span.begin_s * 1e6},
                      {"dur", (span.end_s - span.begin_s) * 1e6},
                      {"args", {{"step", span.step}, {"tile", span.tile}}}});
  }
  return nlohmann::json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump() + "\n";
}

}  // namespace tutti::plan
