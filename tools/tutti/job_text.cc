#include "tools/tutti/job_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tools/tutti/display_width.h"
#include "tools/tutti/signal_name.h"

namespace tutti::tool {

using launch::JobStatus;
using launch::RankState;
using launch::RankStatus;

std::string age_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3600 % 24);
}

double age_s(const JobStatus& job, Time now) {
  return now > job.started ? static_cast<double>(now.ns - job.started.ns) / 1e9 : 0;
}

std::string command_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    const bool is_plain = !word.empty() && word.find_first_of(" \t\n'\"\\") == std::string::npos;
    text += is_plain ? word : fmt::format("'{}'", word);
  }
  return text;
}

std::string state_text(const RankStatus& rank) {
  if (rank.state != RankState::ended) return std::string(name_of(rank.state));
  if (rank.signal != 0) return signal_name(rank.signal);
  return rank.code == 0 ? "done" : fmt::format("exit {}", rank.code);
}

std::string hosts_text(const JobStatus& job) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> hosts;
  for (const RankStatus& rank : job.ranks) {
    // Ranks of one host follow each other, but need not.
    if (!hosts.empty() && hosts.back() == rank.host) continue;
    if (std::ranges::find(hosts, rank.host) == hosts.end()) hosts.push_back(rank.host);
  }
  if (hosts.empty()) return "-";
  if (hosts.size() <= kShown) return fmt::format("{}", fmt::join(hosts, ","));
  return fmt::format("{} and {} more", hosts.front(), hosts.size() - 1);
}

std::size_t alive_count(const JobStatus& job) {
  return static_cast<std::size_t>(std::ranges::count(job.ranks, RankState::running, &RankStatus::state));
}

std::vector<std::string> table_of(std::span<const Row> rows, std::span<const std::size_t> right_aligned) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(printable(row[i])));
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const bool is_number = std::ranges::find(right_aligned, i) != right_aligned.end();
      line += fitted(row[i], widths[i], is_number ? Side::right : Side::left) + "  ";
    }
    lines.push_back(line + printable(row.back()));
  }
  return lines;
}

std::vector<std::string> jobs_table(std::span<const JobStatus> jobs, Time now) {
  std::vector<Row> rows = {{"NAME", "PID", "AGE", "RANKS", "HOSTS", "STATE", "COMMAND"}};
  for (const JobStatus& job : jobs) {
    const std::size_t alive = alive_count(job);
    rows.push_back(
        {job.name, fmt::format("{}", job.pid), age_text(age_s(job, now)),
         alive == job.ranks.size() ? fmt::format("{}", alive) : fmt::format("{} of {}", alive, job.ranks.size()),
         hosts_text(job), std::string(name_of(job.state)), command_text(job.command)});
  }
  static constexpr std::array<std::size_t, 3> kNumbers = {1, 2, 3};
  return table_of(rows, kNumbers);
}

std::vector<std::string> ranks_table(std::span<const JobStatus> jobs) {
  std::vector<Row> rows = {{"NAME", "RANK", "PID", "HOST", "STATE"}};
  for (const JobStatus& job : jobs) {
    for (const RankStatus& rank : job.ranks) {
      rows.push_back({job.name, fmt::format("{}", rank.rank), rank.pid == 0 ? "-" : fmt::format("{}", rank.pid),
                      rank.host, state_text(rank)});
    }
  }
  static constexpr std::array<std::size_t, 2> kNumbers = {1, 2};
  return table_of(rows, kNumbers);
}

}  // namespace tutti::tool
