#include "bench/comparison/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "bench/comparison/contenders.h"
#include "bench/comparison/targets.h"

namespace tutti::bench {

namespace {

using Cells = std::vector<std::string>;

std::string table_text(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string size_text(const Case& what) {
  return what.collective == plan::Collective::barrier ? "-" : text::bytes_text(what.bytes);
}

// A table for each collective and number of ranks, in this order.
template <class Table>
std::string tables(const Samples& samples, Table table) {
  std::string text;
  std::vector<Case> group;
  const auto flush = [&] {
    if (!group.empty()) text += table(std::exchange(group, {}));
  };
  for (const Case& what : samples.cases()) {
    if (!group.empty() && (group[0].collective != what.collective || group[0].ranks != what.ranks)) flush();
    group.push_back(what);
  }
  flush();
  return text;
}

struct Tally {
  int met = 0;
  int all = 0;
  void add(const std::optional<Mark>& mark) {
    if (!mark || !mark->target) return;
    ++all;
    met += mark->is_met() ? 1 : 0;
  }
};

std::string verdict(const Mark& mark, const std::string& target) {
  return fmt::format("{} {}", target, mark.is_met() ? "met" : "MISSED");
}

// Time, ratio, its target, share of the bound with its target.
Cells score_cells(const std::optional<Score>& score, Tally& tally) {
  if (!score) return {"", "", "", ""};
  Cells cells = {microseconds(score->tutti.median_s), "", "", ""};
  if (const auto& ratio = score->ratio) {
    cells[1] = fmt::format("{:.2f}", ratio->value);
    if (ratio->target) cells[2] = verdict(*ratio, fmt::format("{:.1f}", *ratio->target));
  }
  if (const auto& share = score->of_bound) {
    cells[3] = percent(share->value);
    if (share->target) cells[3] += fmt::format(" ({})", verdict(*share, percent(*share->target)));
  }
  tally.add(score->ratio);
  tally.add(score->of_bound);
  return cells;
}

std::string heading(const Case& first, const Network& network) {
  std::string place;
  if (network.host_count > 1) {
    place = fmt::format(" on {} hosts ({} each), {} rail{}{}", network.host_count, first.ranks / network.host_count,
                        network.rail_count, network.rail_count == 1 ? "" : "s",
                        network.bits_per_second == 0 ? std::string(", not limited")
                                                     : fmt::format(" of {} Mbit/s", network.bits_per_second / 1000000));
  }
  return fmt::format("\n{}, {} ranks{}; times in us\n", plan::name_of(first.collective), first.ranks, place);
}

std::string ratio_table(const Report& report, const std::vector<Case>& group, Tally& tally) {
  const Samples& samples = report.samples;
  const std::string limit = report.network.host_count > 1 ? "of line" : "of bound";
  std::vector<Cells> rows = {{"size", "best peer", "time", "tutti", "ratio", "target", limit, "allocated", "ratio",
                              "target", limit, "spread"}};
  for (const Case& what : group) {
    const auto peer = samples.best_peer(what);
    const auto plain = score_of(samples, what, BufferKind::malloc, report.network);
    const auto allocated = score_of(samples, what, BufferKind::allocated, report.network);
    if (!plain && !allocated) continue;
    Cells row = {size_text(what), peer ? peer->contender : "none", peer ? microseconds(peer->median_s) : ""};
    for (const auto& score : {plain, allocated}) {
      const Cells cells = score_cells(score, tally);
      row.insert(row.end(), cells.begin(), cells.end());
    }
    row.push_back(percent(
        std::max({peer ? peer->spread : 0, plain ? plain->tutti.spread : 0, allocated ? allocated->tutti.spread : 0})));
    rows.push_back(row);
  }
  return rows.size() == 1 ? "" : heading(group[0], report.network) + table_text(rows);
}

// The median, "wrong" where no result was right, and a "?" where some were not.
std::string time_cell(const Samples& samples, const Case& what, const std::string& name) {
  const bool has_wrong = samples.wrong_count(what, name) > 0;
  const auto time = samples.of(what, name);
  if (!time) return has_wrong ? "wrong" : "";
  return microseconds(time->median_s) + (has_wrong ? "?" : "");
}

std::string time_table(const Report& report, const std::vector<Case>& group) {
  const Samples& samples = report.samples;
  std::set<std::string> names;
  Cells header = {"contender"};
  Cells best = {"best peer"};
  Cells widths = {"its spread"};
  for (const Case& what : group) {
    for (const std::string& name : samples.contenders(what)) names.insert(name);
    header.push_back(size_text(what));
    const auto peer = samples.best_peer(what);
    best.push_back(peer ? microseconds(peer->median_s) : "");
    widths.push_back(peer ? percent(peer->spread) : "");
  }
  const auto has_failed = [&](const std::string& name) {
    return std::any_of(report.failures.begin(), report.failures.end(),
                       [&](const Failure& failure) { return failure.contender == name; });
  };
  std::vector<Cells> rows = {header};
  for (const std::string& name : names) {
    Cells row = {has_failed(name) ? "! " + name : name};
    for (const Case& what : group) row.push_back(time_cell(samples, what, name));
    rows.push_back(row);
  }
  rows.insert(rows.end(), {best, widths});
  return heading(group[0], report.network) + table_text(rows);
}

}  // namespace

std::string ratio_tables(const Report& report) {
  Tally tally;
  std::string text =
      tables(report.samples, [&](const std::vector<Case>& group) { return ratio_table(report, group, tally); });
  if (text.empty()) return text;
  text += "\nratio: the best peer's time / Tutti's; spread: (largest - smallest) / median, the widest of the row\n";
  text += fmt::format("{} of {} targets met\n", tally.met, tally.all);
  return text;
}

std::string footer(const Report& report) {
  const Facts& facts = report.facts;
  std::string text = fmt::format("\n{}, {} cores, {}, commit {}\n", facts.cpu, facts.cores, facts.kernel, facts.commit);
  if (const std::vector<double>& loads = report.foreign_cores; !loads.empty()) {
    text += fmt::format("others kept {:.2f} cores busy (median of {} runs; at most {:.2f})\n", median(loads),
                        loads.size(), *std::max_element(loads.begin(), loads.end()));
  }
  for (const Failure& failure : report.failures) text += fmt::format("failed: {}\n", failure.text);
  return text;
}

std::string time_tables(const Report& report) {
  return tables(report.samples, [&](const std::vector<Case>& group) { return time_table(report, group); });
}

}  // namespace tutti::bench
