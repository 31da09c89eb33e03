#include "tools/perf/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "tools/perf/report/text.h"

namespace tutti::perf {

namespace {

// Text that stays text: on one line, in one cell, without links, images and tags.
std::string escaped(std::string_view text) {
  constexpr std::string_view kSigns = "\\`*_{}[]<>#|!~&";
  std::string safe;
  for (const char c : text) {
    if (kSigns.find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

// A fence is longer than any run of backticks within.
std::string fenced(const std::string& text) {
  std::size_t longest = 2;
  for (std::size_t i = 0, length = 0; i < text.size(); ++i) {
    length = text[i] == '`' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  const std::string fence(longest + 1, '`');
  return fence + "console\n" + text + "\n" + fence + "\n";
}

struct Columns {
  bool out_of_place = false;
  bool in_place = false;
  bool distribution = false;
  bool estimate = false;
  bool plan = false;
};

Columns columns_of(const Run& run) {
  Columns columns{.distribution = has_distributions(run), .estimate = has_estimates(run), .plan = has_plans(run)};
  for (const Row& row : run.rows) {
    columns.out_of_place = columns.out_of_place || row.out_of_place;
    columns.in_place = columns.in_place || row.in_place;
  }
  return columns;
}

std::string place_names(const Columns& columns, std::string_view place) {
  std::string names = fmt::format(" {} µs | alg GB/s | bus GB/s | wrong |", place);
  if (columns.distribution) names += " p50 | p95 | p99 | cv % |";
  return names;
}

std::string place_cells(const Columns& columns, const std::optional<Measurement>& measurement) {
  if (!measurement) return columns.distribution ? " | | | | | | | |" : " | | | |";
  std::string cells = fmt::format(" {} | {} | **{}** | {} |", decimal_text(measurement->time_us),
                                  decimal_text(measurement->algorithm_gbps), decimal_text(measurement->bus_gbps),
                                  measurement->wrong.value_or(0) != 0 ? fmt::format("**{}** ❌", *measurement->wrong)
                                                                      : wrong_text(measurement->wrong));
  if (!columns.distribution) return cells;
  if (!measurement->distribution) return cells + " | | | |";
  const Distribution& distribution = *measurement->distribution;
  return cells + fmt::format(" {} | {} | {} | {} |", decimal_text(distribution.p50_us),
                             decimal_text(distribution.p95_us), decimal_text(distribution.p99_us),
                             decimal_text(distribution.variation_percent));
}

std::string table_head(const Columns& columns) {
  std::string head = "| size | count | type | op | root |";
  if (columns.out_of_place) head += place_names(columns, "out of place");
  if (columns.in_place) head += place_names(columns, "in place");
  if (columns.estimate) head += " estimate µs |";
  std::string rule = "|";
  for (auto count = std::count(head.begin(), head.end(), '|') - 1; count > 0; --count) rule += "---:|";
  if (columns.plan) {
    head += " plan |";
    rule += ":---|";
  }
  return head + "\n" + rule + "\n";
}

std::string table_line(const Columns& columns, const Row& row) {
  std::string line = fmt::format("| {} | {} | {} | {} | {} |", text::bytes_text(row.bytes), row.count,
                                 escaped(row.type), escaped(row.operation), row.root);
  if (columns.out_of_place) line += place_cells(columns, row.out_of_place);
  if (columns.in_place) line += place_cells(columns, row.in_place);
  if (columns.estimate) line += row.estimate_us ? fmt::format(" {} |", decimal_text(*row.estimate_us)) : " |";
  if (columns.plan) line += fmt::format(" {} |", escaped(row.plan.value_or("")));
  return line + "\n";
}

std::string verdicts(const Run& run) {
  std::string reached;
  if (run.bandwidth_reached) reached = *run.bandwidth_reached ? " ✅" : " ❌ less than was asked for";
  return fmt::format("- Out of bounds values: {} {}\n- Average bus bandwidth: {} GB/s{}\n", run.out_of_bounds,
                     run.out_of_bounds == 0 ? "✅" : "❌", decimal_text(run.average_bus_gbps), reached);
}

}  // namespace

std::string markdown_report(const Run& run) {
  const Setup& setup = run.setup;
  std::string text = fmt::format("### {}\n\n", escaped(setup.program));
  text += fmt::format("{} ranks, {}, {}, {}\n\n", setup.seats.size(), escaped(setup.library), escaped(setup.processor),
                      escaped(setup.started));
  text += fenced(command_text(setup.command)) + "\n";
  const Columns columns = columns_of(run);
  text += table_head(columns);
  for (const Row& row : run.rows) text += table_line(columns, row);
  text += "\n" + verdicts(run);
  for (const std::string& remark : run.remarks) text += fmt::format("- {}\n", escaped(remark));
  return text;
}

}  // namespace tutti::perf
