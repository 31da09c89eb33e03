#include "tools/perf/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/text.h"
#include "tools/perf/report_assets.h"
#include "tools/perf/report_chart.h"
#include "tools/perf/report_ranks.h"
#include "tools/perf/report_tables.h"
#include "tools/perf/report_text.h"
#include "tools/perf/results_json.h"

namespace tutti::perf {

namespace {

using Json = nlohmann::ordered_json;
using Parts = std::vector<std::pair<std::string_view, std::string>>;

// One pass: braces within a part are text.
std::string filled(std::string_view page, const Parts& parts) {
  std::string text;
  while (true) {
    const std::size_t begin = page.find("{{");
    const std::size_t end = begin == page.npos ? page.npos : page.find("}}", begin);
    if (end == page.npos) return text.append(page);
    text.append(page.substr(0, begin));
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& of) { return of.first == name; });
    if (part != parts.end()) text.append(part->second);
    page.remove_prefix(end + 2);
  }
}

// Within a script element only "<" could end it or begin a comment; JSON knows another way to write it.
std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string data_of(const Run& run, const LabelledRuns& others, const std::vector<Curve>& curves) {
  Json json = {{"run", to_json(run)}, {"others", Json::array()}, {"curves", json_of(curves)}};
  for (const auto& [label, other] : others) json["others"].push_back({{"label", label}, {"run", to_json(other)}});
  return script_safe(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

enum class Verdict : std::uint8_t { good, bad, none };

std::string tile(Verdict verdict, std::string_view name, std::string_view value, std::string_view note) {
  const std::string_view kind = verdict == Verdict::good ? " good" : verdict == Verdict::bad ? " bad" : "";
  const std::string_view sign = verdict == Verdict::good ? "✓ " : verdict == Verdict::bad ? "✕ " : "";
  return fmt::format(
      "<div class=\"tile{}\"><span class=\"name\">{}</span><span class=\"value\">{}{}</span>"
      "<span class=\"note\">{}</span></div>\n",
      kind, html_escape(name), sign, html_escape(value), html_escape(note));
}

std::vector<const Measurement*> measurements_of(const Row& row) {
  std::vector<const Measurement*> measurements;
  if (row.out_of_place) measurements.push_back(&*row.out_of_place);
  if (row.in_place) measurements.push_back(&*row.in_place);
  return measurements;
}

std::string data_tile(const Run& run) {
  std::size_t checked = 0;
  std::size_t wrong_rows = 0;
  for (const Row& row : run.rows) {
    for (const Measurement* measurement : measurements_of(row)) {
      checked += measurement->wrong ? 1 : 0;
      wrong_rows += measurement->wrong.value_or(0) != 0 ? 1 : 0;
    }
  }
  if (run.out_of_bounds != 0 || wrong_rows != 0) {
    return tile(Verdict::bad, "Data", "wrong",
                fmt::format("{} elements, in {} measurements of {}", run.out_of_bounds, wrong_rows, checked));
  }
  if (checked == 0) return tile(Verdict::none, "Data", "not checked", "the run says nothing about correctness");
  return tile(Verdict::good, "Data", "correct", fmt::format("every element of {} measurements", checked));
}

std::string average_tile(const Run& run) {
  const std::string value = decimal_text(run.average_bus_gbps) + " GB/s";
  if (!run.bandwidth_reached) return tile(Verdict::none, "Average bus bandwidth", value, "over all sizes");
  return *run.bandwidth_reached ? tile(Verdict::good, "Average bus bandwidth", value, "as much as was asked for")
                                : tile(Verdict::bad, "Average bus bandwidth", value, "less than was asked for");
}

std::string extreme_tiles(const Run& run) {
  const Row* fastest = nullptr;
  const Row* quickest = nullptr;
  double peak_gbps = 0;
  double least_us = 0;
  for (const Row& row : run.rows) {
    for (const Measurement* measurement : measurements_of(row)) {
      if (measurement->bus_gbps > peak_gbps) {
        fastest = &row;
        peak_gbps = measurement->bus_gbps;
      }
      if (measurement->time_us > 0 && (quickest == nullptr || measurement->time_us < least_us)) {
        quickest = &row;
        least_us = measurement->time_us;
      }
    }
  }
  std::string html;
  if (fastest != nullptr) {
    html += tile(Verdict::none, "Highest bus bandwidth", decimal_text(peak_gbps) + " GB/s",
                 "at " + text::bytes_text(fastest->bytes));
  }
  if (quickest != nullptr) {
    html +=
        tile(Verdict::none, "Shortest time", decimal_text(least_us) + " µs", "at " + text::bytes_text(quickest->bytes));
  }
  return html;
}

std::string subtitle_of(const Setup& setup) {
  std::set<std::string_view> hosts;
  for (const Seat& seat : setup.seats) hosts.insert(seat.host);
  std::string subtitle;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) subtitle += (subtitle.empty() ? "" : " · ") + html_escape(part);
  };
  if (!setup.seats.empty()) {
    add(fmt::format("{} {}", setup.seats.size(), setup.seats.size() == 1 ? "rank" : "ranks"));
    add(fmt::format("{} {}", hosts.size(), hosts.size() == 1 ? "host" : "hosts"));
  }
  add(setup.library);
  add(setup.started);
  return subtitle;
}

std::string legend_of(const std::vector<Curve>& curves) {
  std::string html;
  for (const Curve& curve : curves) {
    html += fmt::format(
        "<button type=\"button\" class=\"entry colour-{} {}\" aria-pressed=\"{}\"><svg viewBox=\"0 0 26 10\""
        " aria-hidden=\"true\"><path class=\"curve colour-{} {}\" d=\"M1 5L25 5\"/></svg>{}</button>\n",
        curve.colour, name_of(curve.style), curve.is_shown, curve.colour, name_of(curve.style),
        html_escape(curve.label));
  }
  return html;
}

std::string shades_of(const Run& run) {
  if (!has_distributions(run)) return {};
  return "<p class=\"note\">Shades reach from the median to the 99th percentile of the single iterations of this run."
         "</p>\n";
}

std::string remarks_of(const Run& run) {
  if (run.remarks.empty()) return {};
  std::string html = "<section class=\"card remarks\"><h2>Remarks</h2><ul>\n";
  for (const std::string& remark : run.remarks) html += fmt::format("<li>{}</li>\n", html_escape(remark));
  return html + "</ul></section>\n";
}

std::string ranks_of(const Run& run) {
  const std::string map = html_heat_map(run);
  if (map.empty()) return {};
  return "<section class=\"card ranks\"><h2>Ranks</h2>\n<div class=\"pair\"><div><h3>Mean time of each rank</h3>"
         "<p class=\"note\">In percent of the median rank of that size: "
         "<span class=\"key late\">+ slower</span> <span class=\"key early\">− faster</span></p>"
         "<div class=\"wide\">" +
         map +
         "</div></div>\n<div><h3>Stragglers</h3><p class=\"note\">How often a rank was the last to finish, when all "
         "began at the same moment. Marked: more than twice as often as chance would have it.</p><div class=\"wide\">" +
         html_straggler_table(run) + "</div></div></div></section>\n";
}

std::string others_of(const Run& run, const LabelledRuns& others) {
  const std::string table = html_other_runs(run, others);
  if (table.empty()) return {};
  return "<section class=\"card\"><h2>Runs</h2>\n" + table + "</section>\n";
}

}  // namespace

std::string html_report(const Run& run, const LabelledRuns& others) {
  const std::vector<Curve> curves = curves_of(run, others);
  const ChartView bandwidth{.quantity = Quantity::gbps, .x = Scale::logarithmic, .y = Scale::linear};
  const ChartView time{.quantity = Quantity::microseconds, .x = Scale::logarithmic, .y = Scale::logarithmic};
  return filled(kPageTemplate, {{"title", html_escape(run.setup.program.empty() ? "perf" : run.setup.program)},
                                {"subtitle", subtitle_of(run.setup)},
                                {"style", std::string(kPageStyle)},
                                {"tiles", data_tile(run) + average_tile(run) + extreme_tiles(run)},
                                {"remarks", remarks_of(run)},
                                {"legend", legend_of(curves)},
                                {"bandwidth_chart", svg_chart(curves, bandwidth)},
                                {"time_chart", svg_chart(curves, time)},
                                {"shades", shades_of(run)},
                                {"others", others_of(run, others)},
                                {"ranks", ranks_of(run)},
                                {"table", html_result_table(run)},
                                {"command", html_escape(command_text(run.setup.command))},
                                {"machine", html_machine(run.setup) + html_seats(run.setup)},
                                {"data", data_of(run, others, curves)},
                                {"chart_script", std::string(kChartScript)},
                                {"page_script", std::string(kPageScript)}});
}

}  // namespace tutti::perf
