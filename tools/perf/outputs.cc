#include "tools/perf/outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "os/file_descriptor.h"
#include "tools/perf/judge/comparison.h"
#include "tools/perf/judge/expectation.h"
#include "tools/perf/judge/nccl_table.h"
#include "tools/perf/judge/remarks.h"
#include "tools/perf/report/csv.h"
#include "tools/perf/report/html.h"
#include "tools/perf/report/markdown.h"
#include "tools/perf/report/results_json.h"
#include "tools/perf/report/text_file.h"

namespace tutti::perf {

namespace {

constexpr int kNamesMax = 10000;

// A name that no file has yet: FILE, FILE.0, FILE.1 and so on. The file is made, so that nobody else takes it.
Result<std::string> create_new(const std::string& path) {
  for (int i = -1; i < kNamesMax; ++i) {
    const std::string name = i < 0 ? path : fmt::format("{}.{}", path, i);
    const os::FileDescriptor file(::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (file.get() >= 0) return name;
    if (errno != EEXIST) return invalid_argument(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
  }
  return invalid_argument(fmt::format("{} and {} names like it are taken", path, kNamesMax));
}

// JSON of ours or of nccl-tests, or the table that either of them prints.
Result<Run> read_any(const std::string& path) {
  TUTTI_ASSIGN(const std::string content, read_text(path));
  Result<Run> run = text::trim(content).starts_with('{') ? parse_run(content) : parse_table(content);
  if (!run) return run.status().while_doing(path);
  return run;
}

Status try_writing(const std::string& path) {
  if (path.empty()) return {};
  const std::ofstream file(path, std::ios::app);
  if (file) return {};
  return invalid_argument(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

Status Outputs::open(const Options& options) {
  for (const std::string& path : {options.report, options.csv, options.markdown}) TUTTI_TRY(try_writing(path));
  if (!options.baseline.empty()) {
    TUTTI_ASSIGN(baseline_, read_any(options.baseline));
  }
  for (const std::string& overlay : options.overlays) {
    const std::size_t sign = overlay.find('=');
    const bool has_label = sign != std::string::npos;
    const std::string path = has_label ? overlay.substr(sign + 1) : overlay;
    TUTTI_ASSIGN(Run run, read_any(path));
    overlays_.emplace_back(has_label ? overlay.substr(0, sign) : path, std::move(run));
  }
  if (!options.topology.empty()) {
    TUTTI_ASSIGN(topology_, topology::read_file(options.topology));
  }
  if (options.output_file.empty()) return {};
  if (!options.output_file.ends_with(".json"))
    return invalid_argument(
        fmt::format("{}: results are written as JSON (-J); end the name with .json", options.output_file));
  TUTTI_ASSIGN(json_path_, create_new(options.output_file));
  note_ = fmt::format("# Writing JSON output to {}\n", json_path_);
  return {};
}

Status Outputs::write(const Run& run, const Options& options) {
  if (!json_path_.empty()) TUTTI_TRY(write_text(json_path_, json_text(run)));
  if (!options.csv.empty()) TUTTI_TRY(write_text(options.csv, csv_report(run)));
  if (!options.report.empty()) TUTTI_TRY(write_text(options.report, html_report(run, overlays_)));
  if (!options.markdown.empty()) TUTTI_TRY(write_text(options.markdown, markdown_report(run)));
  return {};
}

Result<Judgement> Outputs::judge(Run& run, const Options& options) const {
  Judgement judgement;
  if (baseline_) {
    const CompareSettings settings{.smallest_effect = options.least_effect_percent / 100,
                                   .confidence = options.confidence_percent / 100};
    TUTTI_ASSIGN(const Comparison comparison, compare(run, *baseline_, settings));
    judgement.text += text_of(comparison);
    judgement.is_slower = comparison.is_regressed();
  }
  if (topology_) {
    TUTTI_ASSIGN(const Expectation expectation, expect(run, *topology_));
    judgement.text += text_of(expectation);
  }
  for (std::string& remark : remarks_of(run)) run.remarks.push_back(std::move(remark));
  for (const std::string& remark : run.remarks) judgement.text += fmt::format("# {}\n", remark);
  return judgement;
}

namespace {

// "slowest rank: 3 in 12 of 20 iterations, 5 in 8".
std::string slowest_line(const Stragglers& stragglers) {
  std::vector<std::size_t> ranks(stragglers.slowest.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::ranges::stable_sort(ranks, std::ranges::greater(), [&](std::size_t rank) { return stragglers.slowest[rank]; });
  constexpr std::size_t kNamed = 3;
  std::string line;
  for (std::size_t i = 0; i < std::min(ranks.size(), kNamed) && stragglers.slowest[ranks[i]] > 0; ++i) {
    line += i == 0 ? fmt::format("  slowest: rank {} in {} of {} iterations", ranks[i], stragglers.slowest[ranks[i]],
                                 stragglers.iterations)
                   : fmt::format(", rank {} in {}", ranks[i], stragglers.slowest[ranks[i]]);
  }
  const auto [low, high] = std::ranges::minmax(stragglers.mean_us);
  return line + fmt::format("; ranks took {:.2f} to {:.2f} us on average", low, high);
}

void add_explanation(const Row& row, std::vector<std::string>& lines) {
  if (row.plan) lines.push_back(fmt::format("  {}", *row.plan));
  if (!row.estimate_us || !row.out_of_place) return;
  const double ratio = row.out_of_place->time_us / *row.estimate_us;
  const bool is_far = ratio > kEstimateFactorMax || ratio < 1 / kEstimateFactorMax;
  lines.push_back(fmt::format("  estimate {}, measured {}: {:.2f} times as long{}",
                              text::seconds_text(*row.estimate_us * 1e-6),
                              text::seconds_text(row.out_of_place->time_us * 1e-6), ratio,
                              is_far ? "; one of them is wrong, or something is in the way" : ""));
}

}  // namespace

std::vector<std::string> lines_about(const Row& row, const Options& options) {
  std::vector<std::string> lines;
  if (options.explains) add_explanation(row, lines);
  const bool has_stragglers = row.out_of_place && row.out_of_place->stragglers;
  if (options.reports_stragglers && has_stragglers) lines.push_back(slowest_line(*row.out_of_place->stragglers));
  return lines;
}

}  // namespace tutti::perf
