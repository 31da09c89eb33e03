#include "tools/perf/report_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "tools/perf/report_text.h"

namespace tutti::perf {

namespace {

constexpr std::size_t kColumnsMax = 128;   // of the heat map: more are no longer told apart
constexpr std::size_t kLabelledMax = 24;   // up to here a cell has room for its number
constexpr std::size_t kLinesMax = 16;      // of the table: whoever comes later is no straggler
constexpr double kFullColourPercent = 25;  // and beyond
constexpr double kSuspiciousShare = 2;     // times as often last as by chance

const Stragglers* stragglers_of(const Row& row) {
  if (row.out_of_place && row.out_of_place->stragglers) return &*row.out_of_place->stragglers;
  if (row.in_place && row.in_place->stragglers) return &*row.in_place->stragglers;
  return nullptr;
}

struct RankSummary {
  std::size_t rank = 0;
  std::uint64_t slowest = 0;
  double late_percent_sum = 0;  // over the rows, against their medians
  std::size_t rows = 0;

  double late_percent() const { return rows == 0 ? 0 : late_percent_sum / static_cast<double>(rows); }
};

double median_of(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); }),
               values.end());
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// NaN where the rank has no time.
double late_percent(const Stragglers& stragglers, double median_us, std::size_t rank) {
  if (rank >= stragglers.mean_us.size() || !(median_us > 0)) return std::numeric_limits<double>::quiet_NaN();
  return (stragglers.mean_us[rank] / median_us - 1) * 100;
}

// By rank.
std::vector<RankSummary> summaries_of(const Run& run) {
  std::vector<RankSummary> summaries;
  for (const Row& row : run.rows) {
    const Stragglers* stragglers = stragglers_of(row);
    if (stragglers == nullptr) continue;
    const double median_us = median_of(stragglers->mean_us);
    for (std::size_t rank = summaries.size(); rank < stragglers->mean_us.size(); ++rank) {
      summaries.emplace_back().rank = rank;
    }
    for (std::size_t rank = 0; rank < stragglers->mean_us.size(); ++rank) {
      if (rank < stragglers->slowest.size()) summaries[rank].slowest += stragglers->slowest[rank];
      const double percent = late_percent(*stragglers, median_us, rank);
      if (!std::isfinite(percent)) continue;
      summaries[rank].late_percent_sum += percent;
      ++summaries[rank].rows;
    }
  }
  return summaries;
}

void sort_by_lateness(std::vector<RankSummary>& summaries) {
  std::stable_sort(summaries.begin(), summaries.end(), [](const RankSummary& left, const RankSummary& right) {
    if (left.slowest != right.slowest) return left.slowest > right.slowest;
    return left.late_percent() > right.late_percent();
  });
}

// The ranks that get a column: all, or those that were last most often.
std::vector<std::size_t> columns_of(const Run& run) {
  std::vector<RankSummary> summaries = summaries_of(run);
  sort_by_lateness(summaries);
  summaries.resize(std::min(summaries.size(), kColumnsMax));
  std::vector<std::size_t> ranks;
  for (const RankSummary& summary : summaries) ranks.push_back(summary.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

const Seat* find_seat(const Run& run, std::size_t rank) {
  const auto& seats = run.setup.seats;
  const auto found =
      std::find_if(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.rank == static_cast<int>(rank); });
  return found == seats.end() ? nullptr : &*found;
}

std::string host_of(const Run& run, std::size_t rank) {
  const Seat* seat = find_seat(run, rank);
  return seat == nullptr ? std::string() : seat->host;
}

// "node7" of node7.cluster.example.org, but all of 10.0.0.7.
std::string short_host(const std::string& host) {
  const bool is_address = host.find_first_not_of("0123456789.") == std::string::npos;
  return is_address ? host : host.substr(0, host.find('.'));
}

// A line of host names above the ranks, where their number lets names fit.
std::string host_line(const Run& run, const std::vector<std::size_t>& ranks) {
  std::string cells;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    const std::string host = host_of(run, ranks[begin]);
    while (end < ranks.size() && host_of(run, ranks[end]) == host) ++end;
    cells += fmt::format("<th class=\"host\" scope=\"colgroup\" colspan=\"{}\" title=\"{}\">{}</th>", end - begin,
                         html_escape(host), html_escape(short_host(host)));
  }
  return fmt::format("<tr><th></th>{}</tr>", cells);
}

std::string cell(double percent, std::size_t rank, std::uint64_t bytes, bool is_labelled) {
  if (!std::isfinite(percent)) return "<td></td>";
  const double strength = std::min(1.0, std::abs(percent) / kFullColourPercent);
  const std::string shown = fmt::format("{:+.0f}", percent);
  const bool is_even = shown == "+0" || shown == "-0";
  return fmt::format("<td class=\"{}\" style=\"--heat:{:.2f}\" title=\"rank {} at {}: {:+.1f} %\">{}</td>",
                     percent > 0 ? "late" : "early", is_even ? 0 : strength, rank, text::bytes_text(bytes), percent,
                     !is_labelled ? ""
                     : is_even    ? "·"
                                  : shown);
}

std::string heat_line(const Row& row, const Stragglers& stragglers, const std::vector<std::size_t>& ranks) {
  const double median_us = median_of(stragglers.mean_us);
  std::string line = fmt::format("<tr><th scope=\"row\">{}</th>", text::bytes_text(row.bytes));
  for (const std::size_t rank : ranks) {
    line += cell(late_percent(stragglers, median_us, rank), rank, row.bytes, ranks.size() <= kLabelledMax);
  }
  return line + "</tr>\n";
}

std::string straggler_line(const Run& run, const RankSummary& summary, std::uint64_t total, std::size_t ranks) {
  const double share = total == 0 ? 0 : static_cast<double>(summary.slowest) / static_cast<double>(total);
  const bool is_suspicious = ranks > 2 && share > kSuspiciousShare / static_cast<double>(ranks);
  const Seat* seat = find_seat(run, summary.rank);
  const std::string host = host_of(run, summary.rank);
  return fmt::format(
      "<tr{}><th scope=\"row\">{}</th><td class=\"host\" title=\"{}\">{}</td><td class=\"number\">{}</td><td "
      "class=\"share\">"
      "<span class=\"bar\" style=\"--share:{:.4f}\"></span>{:.0f} %</td><td class=\"number\">{:+.1f} %</td></tr>\n",
      is_suspicious ? " class=\"suspicious\"" : "", summary.rank, html_escape(host), html_escape(short_host(host)),
      seat == nullptr ? "" : fmt::format("{}", seat->device), share, share * 100, summary.late_percent());
}

}  // namespace

std::string html_heat_map(const Run& run) {
  const std::vector<std::size_t> ranks = columns_of(run);
  if (ranks.empty()) return {};
  const bool is_labelled = ranks.size() <= kLabelledMax;
  std::string html = fmt::format("<table class=\"heat{}\"><thead>", is_labelled ? "" : " dense");
  html += host_line(run, ranks) + "<tr><th scope=\"col\">rank</th>";
  for (const std::size_t rank : ranks) {
    html += is_labelled || rank % 8 == 0 ? fmt::format("<th scope=\"col\">{}</th>", rank) : "<th></th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const Row& row : run.rows) {
    if (const Stragglers* stragglers = stragglers_of(row)) html += heat_line(row, *stragglers, ranks);
  }
  html += "</tbody></table>\n";
  if (summaries_of(run).size() > ranks.size()) {
    html += fmt::format("<p class=\"note\">Shown are the {} of {} ranks that were last most often.</p>\n", ranks.size(),
                        summaries_of(run).size());
  }
  return html;
}

std::string html_straggler_table(const Run& run) {
  std::vector<RankSummary> summaries = summaries_of(run);
  if (summaries.empty()) return {};
  const std::size_t ranks = summaries.size();
  const std::uint64_t total =
      std::accumulate(summaries.begin(), summaries.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const RankSummary& summary) { return sum + summary.slowest; });
  sort_by_lateness(summaries);
  summaries.resize(std::min(ranks, kLinesMax));
  std::string html =
      "<table class=\"stragglers\"><thead><tr><th scope=\"col\">rank</th><th scope=\"col\">host</th>"
      "<th scope=\"col\" class=\"number\">device</th><th scope=\"col\">last to finish</th>"
      "<th scope=\"col\" class=\"number\">vs. median</th></tr></thead><tbody>\n";
  for (const RankSummary& summary : summaries) html += straggler_line(run, summary, total, ranks);
  html += "</tbody></table>\n";
  if (ranks > summaries.size()) {
    html += fmt::format("<p class=\"note\">The other {} ranks were last less often.</p>\n", ranks - summaries.size());
  }
  return html;
}

}  // namespace tutti::perf
