#include "tools/tutti/top/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "base/text.h"
#include "tools/tutti/display_width.h"
#include "tools/tutti/job_text.h"

namespace tutti::tool::top {

namespace {

using launch::JobStatus;
using launch::RankState;
using launch::RankStatus;

constexpr std::size_t kHeaderLines = 3;  // the job, who waits, the names of the columns
constexpr std::size_t kHostColumns = 24;
constexpr std::size_t kCallColumns = 16;  // at least

// Who waits for whom. Samples may name somebody who is no rank of the job: that is shown but not counted.
std::map<Rank, std::size_t> waiter_counts(const JobStatus& job) {
  std::map<Rank, std::size_t> counts;
  for (const RankStatus& rank : job.ranks) {
    if (rank.state != RankState::running || !rank.sample) continue;
    if (const auto other = text::integer_of<Rank>(rank.sample->waits_for)) ++counts[*other];
  }
  return counts;
}

std::uint64_t cpu_of(const RankStatus& rank) { return rank.sample ? rank.sample->cpu_permille : 0; }
std::uint64_t memory_of(const RankStatus& rank) { return rank.sample ? rank.sample->memory_bytes : 0; }

std::vector<std::size_t> ordered(const JobStatus& job, Order order) {
  std::vector<std::size_t> places(job.ranks.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto counts = waiter_counts(job);
  const auto weight = [&](std::size_t place) -> std::uint64_t {
    const RankStatus& rank = job.ranks[place];
    switch (order) {
      case Order::rank: return 0;
      case Order::cpu: return cpu_of(rank);
      case Order::memory: return memory_of(rank);
      case Order::waiting: {
        const auto found = counts.find(rank.rank);
        const bool is_waiting = rank.sample && !rank.sample->waits_for.empty();
        return 2 * (found == counts.end() ? 0 : found->second) + (is_waiting ? 1 : 0);
      }
    }
    return 0;
  };
  // Ranks of equal weight keep their order, so that rows do not jump.
  std::ranges::stable_sort(places, [&](std::size_t one, std::size_t other) { return weight(one) > weight(other); });
  return places;
}

struct Columns {
  std::size_t rank = 4;
  std::size_t host = 4;
  std::size_t pid = 7;
  std::size_t state = 8;
  std::size_t cpu = 6;
  std::size_t memory = 9;
  std::size_t call = kCallColumns;
  std::size_t waits_for = 9;
  std::size_t bandwidth = 10;
};

// Widths depend on hosts alone, which do not change: columns stay where they are from frame to frame.
Columns columns_of(const JobStatus& job, std::size_t width) {
  Columns columns;
  for (const RankStatus& rank : job.ranks) {
    columns.host = std::max(columns.host, std::min(kHostColumns, width_of(printable(rank.host))));
  }
  columns.rank = std::max(columns.rank, fmt::format("{}", job.ranks.size()).size());
  constexpr std::size_t kGaps = 8 * 2;
  const std::size_t rest = columns.rank + columns.host + columns.pid + columns.state + columns.cpu + columns.memory +
                           columns.waits_for + columns.bandwidth + kGaps;
  if (width > rest + kCallColumns) columns.call = width - rest;
  return columns;
}

struct Cells {
  std::string_view rank, host, pid, state, cpu, memory, call, waits_for, bandwidth;
};

std::string row_of(const Columns& columns, const Cells& cells) {
  return fmt::format("{}  {}  {}  {}  {}  {}  {}  {}  {}", fitted(cells.rank, columns.rank, Side::right),
                     fitted(cells.host, columns.host), fitted(cells.pid, columns.pid, Side::right),
                     fitted(cells.state, columns.state), fitted(cells.cpu, columns.cpu, Side::right),
                     fitted(cells.memory, columns.memory, Side::right), fitted(cells.call, columns.call),
                     fitted(cells.waits_for, columns.waits_for),
                     fitted(cells.bandwidth, columns.bandwidth, Side::right));
}

std::string row_of(const Columns& columns, const RankStatus& rank) {
  const std::string number = fmt::format("{}", rank.rank);
  const std::string pid = rank.pid == 0 ? "-" : fmt::format("{}", rank.pid);
  const std::string state = state_text(rank);
  if (!rank.sample || rank.state != RankState::running) {
    return row_of(columns, {number, rank.host, pid, state, "-", "-", "-", "-", "-"});
  }
  const launch::Sample& sample = *rank.sample;
  const std::string cpu = fmt::format("{}.{}", sample.cpu_permille / 10, sample.cpu_permille % 10);
  const std::string memory = text::bytes_text(sample.memory_bytes);
  const std::string rate = sample.bytes_per_s == 0 ? "-" : text::rate_text(static_cast<double>(sample.bytes_per_s));
  return row_of(columns, {number, rank.host, pid, state, cpu, memory, sample.call.empty() ? "-" : sample.call,
                          sample.waits_for.empty() ? "-" : sample.waits_for, rate});
}

std::string job_line(const JobStatus& job, const View& view, Time now) {
  double rate = 0;
  for (const RankStatus& rank : job.ranks) {
    if (rank.state == RankState::running && rank.sample) rate += static_cast<double>(rank.sample->bytes_per_s);
  }
  std::string line = fmt::format("job {}: {} for {}, {} of {} ranks alive on {}, {} together", job.name,
                                 name_of(job.state), age_text(age_s(job, now)), alive_count(job), job.ranks.size(),
                                 hosts_text(job), text::rate_text(rate));
  if (view.silent_s) line += fmt::format("; NO ANSWER for {}", age_text(*view.silent_s));
  return line;
}

std::string footer_of(std::size_t first, std::size_t shown, std::size_t count) {
  return fmt::format("q quit   sort: r rank, c cpu, m memory, w waiting   {}-{} of {}: arrows, PgUp, PgDn",
                     count == 0 ? 0 : first + 1, first + shown, count);
}

}  // namespace

std::size_t page_rows(const Size& size, bool has_footer) {
  const std::size_t taken = kHeaderLines + (has_footer ? 1 : 0);
  return size.rows > taken ? size.rows - taken : 1;
}

std::size_t first_max(const JobStatus& job, const Size& size) {
  const std::size_t page = page_rows(size, true);
  return job.ranks.size() > page ? job.ranks.size() - page : 0;
}

std::string waiting_text(const JobStatus& job) {
  const auto counts = waiter_counts(job);
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  if (most == counts.end()) return "";
  const auto [rank, count] = *most;
  const auto found = std::ranges::find(job.ranks, rank, &RankStatus::rank);
  const std::string host = found == job.ranks.end() ? "" : fmt::format(" ({})", found->host);
  return fmt::format("{} rank{} for rank {}{}", count, count == 1 ? " waits" : "s wait", rank, host);
}

std::vector<Line> frame_of(const JobStatus& job, const View& view, Time now) {
  const Columns columns = columns_of(job, view.size.columns);
  const std::string waiting = waiting_text(job);
  std::vector<Line> lines;
  lines.push_back({job_line(job, view, now)});
  lines.push_back({waiting.empty() ? "nobody waits for another rank" : waiting});
  lines.push_back({row_of(columns, {"RANK", "HOST", "PID", "STATE", "CPU%", "MEM", "CALL", "WAITS-FOR", "BANDWIDTH"}),
                   Look::heading});
  const auto places = ordered(job, view.order);
  const std::size_t page = page_rows(view.size, view.has_footer);
  const std::size_t first = std::min(view.first, places.size() > page ? places.size() - page : 0);
  const std::size_t shown = std::min(page, places.size() - first);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back({row_of(columns, job.ranks[places[first + i]])});
  if (view.has_footer) {
    lines.resize(std::max(lines.size(), kHeaderLines + page));  // the footer stays at the bottom
    lines.push_back({footer_of(first, shown, places.size()), Look::footer});
  }
  if (lines.size() > view.size.rows) lines.resize(view.size.rows);
  for (Line& line : lines) line.text = cut(line.text, view.size.columns);
  return lines;
}

}  // namespace tutti::tool::top
