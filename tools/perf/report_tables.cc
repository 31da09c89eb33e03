#include "tools/perf/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "tools/perf/report_text.h"

namespace tutti::perf {

namespace {

constexpr std::size_t kSeatsOpenMax = 16;  // a longer list is folded

std::string head(std::string_view label, std::string_view unit = {}) {
  if (unit.empty()) return fmt::format("<th scope=\"col\">{}</th>", label);
  return fmt::format("<th scope=\"col\">{}<small>{}</small></th>", label, unit);
}

std::string text_head(std::string_view label) { return fmt::format("<th scope=\"col\" class=\"text\">{}</th>", label); }

std::string number_cell(std::string_view text) { return fmt::format("<td class=\"number\">{}</td>", text); }
std::string text_cell(std::string_view text) { return fmt::format("<td>{}</td>", html_escape(text)); }

// Columns that come twice, out of place and in place.
struct PlaceColumns {
  bool distribution = false;

  int count() const { return distribution ? 10 : 4; }

  std::string heads() const {
    std::string heads = head("time", "µs") + head("algbw", "GB/s") + head("busbw", "GB/s") + head("wrong");
    if (distribution) {
      heads += head("min", "µs") + head("p50", "µs") + head("p95", "µs") + head("p99", "µs") + head("max", "µs") +
               head("cv", "%");
    }
    return heads;
  }

  std::string cells(const std::optional<Measurement>& measurement) const {
    if (!measurement) return fmt::format("<td class=\"nothing\" colspan=\"{}\">not measured</td>", count());
    const bool is_wrong = measurement->wrong.value_or(0) != 0;
    std::string cells =
        number_cell(decimal_text(measurement->time_us)) + number_cell(decimal_text(measurement->algorithm_gbps)) +
        fmt::format("<td class=\"number main\">{}</td>", decimal_text(measurement->bus_gbps)) +
        fmt::format("<td class=\"number{}\">{}</td>", is_wrong ? " wrong" : "", wrong_text(measurement->wrong));
    if (!distribution) return cells;
    if (!measurement->distribution) return cells + "<td class=\"nothing\" colspan=\"6\"></td>";
    const Distribution& of = *measurement->distribution;
    for (const double value : {of.min_us, of.p50_us, of.p95_us, of.p99_us, of.max_us, of.variation_percent}) {
      cells += number_cell(decimal_text(value));
    }
    return cells;
  }
};

struct Columns {
  bool out_of_place = false;
  bool in_place = false;
  bool estimate = false;
  bool plan = false;
  PlaceColumns place;
};

Columns columns_of(const Run& run) {
  Columns columns{.estimate = has_estimates(run), .plan = has_plans(run), .place = {has_distributions(run)}};
  for (const Row& row : run.rows) {
    columns.out_of_place = columns.out_of_place || row.out_of_place;
    columns.in_place = columns.in_place || row.in_place;
  }
  return columns;
}

std::string table_head(const Columns& columns) {
  const std::string place =
      fmt::format("<th scope=\"colgroup\" class=\"group\" colspan=\"{}\">", columns.place.count());
  std::string html = "<thead><tr><th colspan=\"6\"></th>";
  if (columns.out_of_place) html += place + "out of place</th>";
  if (columns.in_place) html += place + "in place</th>";
  if (columns.estimate) html += "<th scope=\"colgroup\" class=\"group\" colspan=\"2\">estimate</th>";
  if (columns.plan) html += "<th></th>";
  html +=
      "</tr><tr>" + head("size") + head("bytes") + head("count") + text_head("type") + text_head("op") + head("root");
  if (columns.out_of_place) html += columns.place.heads();
  if (columns.in_place) html += columns.place.heads();
  if (columns.estimate) html += head("time", "µs") + head("measured is");
  if (columns.plan) html += text_head("plan");
  return html + "</tr></thead>";
}

std::string estimate_cells(const Row& row) {
  const auto& measurement = row.out_of_place ? row.out_of_place : row.in_place;
  if (!row.estimate_us) return "<td></td><td></td>";
  const std::string ratio =
      measurement && *row.estimate_us > 0 ? fmt::format("{:.2f} ×", measurement->time_us / *row.estimate_us) : "";
  return number_cell(decimal_text(*row.estimate_us)) + number_cell(ratio);
}

std::string table_line(const Columns& columns, const Row& row) {
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", text::bytes_text(row.bytes));
  html += number_cell(fmt::format("{}", row.bytes)) + number_cell(fmt::format("{}", row.count));
  html +=
      text_cell(row.type) + text_cell(row.operation) + number_cell(row.root < 0 ? "–" : fmt::format("{}", row.root));
  if (columns.out_of_place) html += columns.place.cells(row.out_of_place);
  if (columns.in_place) html += columns.place.cells(row.in_place);
  if (columns.estimate) html += estimate_cells(row);
  if (columns.plan) html += text_cell(row.plan.value_or(""));
  return html + "</tr>\n";
}

std::string fact(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_escape(name), html_escape(value));
}

std::string counted(int count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string step_text(const Setup& setup) {
  if (setup.step_factor != 0) return fmt::format("times {}", setup.step_factor);
  return setup.step_bytes == 0 ? "one size" : fmt::format("plus {}", text::bytes_text(setup.step_bytes));
}

std::string iterations_text(const Setup& setup) {
  std::string iterations = fmt::format("{}, after {} to warm up", setup.iterations, setup.warmup_iterations);
  if (setup.aggregated_iterations > 1) iterations += fmt::format(", {} calls each", setup.aggregated_iterations);
  if (setup.repeats > 1) iterations += fmt::format(", repeated {} times", setup.repeats);
  if (setup.graph_launches > 0) iterations += fmt::format(", {} launches of a graph", setup.graph_launches);
  return iterations;
}

std::string other_line(std::string_view label, const Run& run) {
  double peak = 0;
  for (const Row& row : run.rows) {
    if (row.out_of_place) peak = std::max(peak, row.out_of_place->bus_gbps);
    if (row.in_place) peak = std::max(peak, row.in_place->bus_gbps);
  }
  return fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}{}{}</tr>\n", html_escape(label), text_cell(run.setup.program),
                     text_cell(run.setup.library), text_cell(run.setup.started),
                     number_cell(decimal_text(run.average_bus_gbps)), number_cell(decimal_text(peak)));
}

}  // namespace

std::string html_result_table(const Run& run) {
  if (run.rows.empty()) return "<p class=\"note\">Nothing was measured.</p>";
  const Columns columns = columns_of(run);
  std::string html = "<table class=\"results\">" + table_head(columns) + "<tbody>\n";
  for (const Row& row : run.rows) html += table_line(columns, row);
  return html + "</tbody></table>";
}

std::string html_machine(const Setup& setup) {
  std::string html = "<dl class=\"facts\">\n";
  html += fact("Library", setup.library);
  if (setup.library_version != 0) html += fact("NCCL version", fmt::format("{}", setup.library_version));
  html += fact("Tool", setup.tool_version.empty() ? setup.program : setup.program + " " + setup.tool_version);
  html += fact("Processor", setup.processor);
  html += fact("System", setup.system);
  html += fact("Layout", fmt::format("{} × {} × {}", counted(setup.processes, "process", "processes"),
                                     counted(setup.threads, "thread", "threads"),
                                     counted(setup.devices_per_thread, "device", "devices")));
  html += fact("Sizes", fmt::format("{} to {}, {}", text::bytes_text(setup.min_bytes),
                                    text::bytes_text(setup.max_bytes), step_text(setup)));
  html += fact("Iterations", iterations_text(setup));
  html += fact("Data checks", setup.checks == 0 ? "none" : fmt::format("{}", setup.checks));
  html += fact("Blocking", setup.blocking == 0 ? "no" : fmt::format("mode {}", setup.blocking));
  html += fact("Started", setup.started);
  html += fact("Ended", setup.ended);
  html += "</dl>\n";
  if (setup.settings.empty()) return html;
  html += "<h3>Settings</h3>\n<table class=\"settings\"><tbody>\n";
  for (const auto& [name, value] : setup.settings) {
    html += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td></tr>\n", html_escape(name),
                        html_escape(value));
  }
  return html + "</tbody></table>\n";
}

std::string html_seats(const Setup& setup) {
  if (setup.seats.empty()) return {};
  std::string html = fmt::format("<details{}><summary>Where the {} ranks ran</summary><div class=\"wide\">\n",
                                 setup.seats.size() <= kSeatsOpenMax ? " open" : "", setup.seats.size());
  html += "<table class=\"seats\"><thead><tr>" + head("rank") + head("group") + head("process") + text_head("host") +
          head("device") + text_head("bus") + text_head("name") + "</tr></thead><tbody>\n";
  for (const Seat& seat : setup.seats) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", seat.rank) + number_cell(fmt::format("{}", seat.group)) +
            number_cell(fmt::format("{}", seat.pid)) + text_cell(seat.host) +
            number_cell(fmt::format("{}", seat.device)) + text_cell(seat.bus) + text_cell(seat.name) + "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

std::string html_other_runs(const Run& run, const LabelledRuns& others) {
  if (others.empty()) return {};
  std::string html = "<div class=\"wide\"><table class=\"others\"><thead><tr>" + text_head("run") +
                     text_head("program") + text_head("library") + text_head("started") +
                     head("average busbw", "GB/s") + head("highest busbw", "GB/s") + "</tr></thead><tbody>\n";
  html += other_line("this run", run);
  for (const auto& [label, other] : others) html += other_line(label, other);
  return html + "</tbody></table></div>\n";
}

}  // namespace tutti::perf
