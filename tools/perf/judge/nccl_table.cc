#include "tools/perf/judge/nccl_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"

namespace tutti::perf {

namespace {

constexpr std::size_t kRemarksMax = 10;  // a log that is broken throughout is not worth more words
constexpr std::size_t kSeatsMax = 1 << 20;

using Words = std::vector<std::string_view>;

// Which columns a table has; they changed over the versions.
struct Columns {
  bool has_operation = false;
  bool has_root = false;
  bool counts_wrong = false;      // "#wrong" rather than "error"
  bool has_distribution = false;  // i_min i_max i_p99 i_cv%
  bool has_timestamp = false;

  std::size_t group_size() const { return has_distribution ? 8 : 4; }
};

bool has_word(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The line that names the columns; nothing for any other.
std::optional<Columns> columns_of(const Words& words) {
  for (const std::string_view needed : {"size", "count", "type", "algbw", "busbw"}) {
    if (!has_word(words, needed)) return std::nullopt;
  }
  return Columns{.has_operation = has_word(words, "redop"),
                 .has_root = has_word(words, "root"),
                 .counts_wrong = has_word(words, "#wrong"),
                 .has_distribution = has_word(words, "i_min"),
                 .has_timestamp = has_word(words, "timestamp")};
}

// A log under mpirun --tag-output or srun --label has "[1,0]<stdout>:" or "0: " before each line.
std::string_view without_mark(std::string_view line) {
  constexpr std::string_view kStdout = "<stdout>:";
  if (const std::size_t mark = line.find(kStdout); mark != std::string_view::npos) {
    return text::trim(line.substr(mark + kStdout.size()));
  }
  line = text::trim(line);
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits > 0 && line.substr(digits).starts_with(": ")) return text::trim(line.substr(digits + 2));
  return line;
}

std::optional<Measurement> measurement_of(std::span<const std::string_view> words, const Columns& columns) {
  const auto time_us = text::real_of(words[0]);
  const auto algorithm = text::real_of(words[1]);
  const auto bus = text::real_of(words[2]);
  const auto wrong = text::real_of(words[3]);
  if (!time_us || *time_us < 0 || !algorithm || !bus || (!wrong && words[3] != "N/A")) return std::nullopt;
  Measurement found;
  found.time_us = *time_us;
  found.algorithm_gbps = *algorithm;
  found.bus_gbps = *bus;
  found.repeats_us = {*time_us};
  constexpr double kWrongMax = 9e18;  // what an int64 holds
  if (columns.counts_wrong && wrong && *wrong >= 0 && *wrong <= kWrongMax) {
    found.wrong = static_cast<std::int64_t>(*wrong);
  }
  return found;
}

std::optional<Row> row_of(Words words, const Columns& columns) {
  if (words.size() < 3) return std::nullopt;
  Row row;
  row.bytes = text::integer_of<std::uint64_t>(words[0]).value_or(0);
  row.count = text::integer_of<std::uint64_t>(words[1]).value_or(0);
  row.type = words[2];
  if (text::real_of(words[2])) return std::nullopt;
  std::size_t next = 3;
  row.operation = "none";
  // Some versions leave the column blank where there is no operation.
  if (columns.has_operation && next < words.size() && !text::real_of(words[next])) row.operation = words[next++];
  if (columns.has_root) {
    const auto root = next < words.size() ? text::integer_of<int>(words[next]) : std::nullopt;
    if (!root) return std::nullopt;
    row.root = *root;
    ++next;
  }
  constexpr std::size_t kTimestampWords = 2;
  if (columns.has_timestamp && words.size() >= next + kTimestampWords) words.resize(words.size() - kTimestampWords);
  const std::size_t group = columns.group_size();
  const std::size_t left = words.size() - next;
  if (left != group && left != 2 * group) return std::nullopt;
  const std::span<const std::string_view> cells = std::span(words).subspan(next);
  // A single group is in place: that is what is left out of the other.
  row.in_place = measurement_of(cells.last(group), columns);
  if (left == 2 * group) row.out_of_place = measurement_of(cells.first(group), columns);
  const bool is_complete = row.in_place.has_value() && (left == group || row.out_of_place.has_value());
  return is_complete ? std::optional(row) : std::nullopt;
}

template <class Integer>
void read_after(const Words& words, std::string_view key, Integer& target) {
  const auto found = std::find(words.begin(), words.end(), key);
  if (found == words.end() || found + 1 == words.end()) return;
  if (const auto value = text::integer_of<Integer>(*(found + 1))) target = *value;
}

// "nThread 1 nGpus 8 minBytes 64 ... step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
void read_parameters(const Words& words, Setup& setup) {
  read_after(words, "nThread", setup.threads);
  read_after(words, "nGpus", setup.devices_per_thread);
  read_after(words, "minBytes", setup.min_bytes);
  read_after(words, "maxBytes", setup.max_bytes);
  read_after(words, "validation:", setup.checks);
  read_after(words, "graph:", setup.graph_launches);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view value = words[i + 1];
    if (words[i] == "step:") {
      const std::size_t bracket = std::min(value.find('('), value.size());
      const auto step = text::integer_of<std::uint64_t>(value.substr(0, bracket));
      if (step) (value.substr(bracket) == "(factor)" ? setup.step_factor : setup.step_bytes) = *step;
    } else if (words[i] == "iters:") {
      const std::string_view before = i > 0 ? words[i - 1] : std::string_view();
      int& target = before == "warmup" ? setup.warmup_iterations
                    : before == "agg"  ? setup.aggregated_iterations
                                       : setup.iterations;
      if (const auto count = text::integer_of<int>(value)) target = *count;
    }
  }
}

// "Rank  0 Group  0 Pid    944 on host device  0 [0x0f] NVIDIA A100-SXM4-40GB"; old versions have no group.
std::optional<Seat> seat_of(const Words& words, std::string_view line) {
  Seat seat;
  seat.rank = -1;
  read_after(words, "Rank", seat.rank);
  read_after(words, "Group", seat.group);
  read_after(words, "Pid", seat.pid);
  read_after(words, "device", seat.device);
  const auto host = std::find(words.begin(), words.end(), "on");
  if (seat.rank < 0 || host == words.end() || host + 1 == words.end()) return std::nullopt;
  seat.host = *(host + 1);
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string_view::npos ? line.size() : open);
  if (close != std::string_view::npos) {
    seat.bus = line.substr(open + 1, close - open - 1);
    seat.name = text::trim(line.substr(close + 1));
  }
  return seat;
}

// 22809 is 2.28.9; before 2.9 there was a digit less for the middle.
std::string version_text(int version) {
  constexpr int kFirstOfNewForm = 10000;
  const int major = version >= kFirstOfNewForm ? version / 10000 : version / 1000;
  const int rest = version >= kFirstOfNewForm ? version % 10000 : version % 1000;
  return fmt::format("NCCL {}.{}.{}", major, rest / 100, rest % 100);
}

std::optional<std::string> program_in(const Words& words) {
  static constexpr std::array<std::string_view, 11> kNames = {"all_reduce", "all_gather", "broadcast", "reduce_scatter",
                                                              "reduce",     "alltoall",   "alltoallv", "scatter",
                                                              "gather",     "sendrecv",   "hypercube"};
  for (const std::string_view word : words) {
    const std::string_view name = word.substr(word.find_last_of('/') + 1);
    const std::size_t end = name.find("_perf");
    if (end == std::string_view::npos) continue;
    if (std::find(kNames.begin(), kNames.end(), name.substr(0, end)) != kNames.end()) return std::string(name);
  }
  return std::nullopt;
}

// What a log is read into, line by line.
class Reader {
 public:
  void read(std::string_view raw_line) {
    ++line_number_;
    const std::string_view line = without_mark(raw_line);
    const Words words = text::words(line);
    if (words.empty()) return;
    if (line.starts_with('#')) {
      read_comment(line, words);
    } else if (const auto program = program_in(words)) {
      begin_run();
      current().setup.program = *program;
    } else if (words.size() > 2 && words[0] == "NCCL" && words[1] == "version") {
      current().setup.library = fmt::format("NCCL {}", words[2].substr(0, words[2].find('+')));
    } else if (columns_) {
      read_row(words);
    }
  }

  std::vector<Run> take_runs() {
    std::erase_if(runs_, [](const Run& run) { return run.rows.empty(); });
    for (Run& run : runs_) finish(run);
    return std::move(runs_);
  }
  const std::vector<std::size_t>& table_lines() const { return table_lines_; }
  bool has_table() const { return !table_lines_.empty(); }

 private:
  Run& current() {
    if (runs_.empty()) runs_.emplace_back();
    return runs_.back();
  }

  // Several lines may announce a run: only one after rows begins a new one.
  void begin_run() {
    if (current().rows.empty()) return;
    runs_.emplace_back();
    columns_.reset();
  }

  void read_comment(std::string_view line, const Words& words) {
    if (const auto columns = columns_of(words)) {
      if (current().rows.empty()) table_lines_.push_back(line_number_);
      columns_ = columns;
    } else if (has_word(words, "nThread")) {
      begin_run();
      read_parameters(words, current().setup);
    } else if (words.size() > 3 && words[1] == "nccl-tests") {
      begin_run();
      read_versions(words);
    } else if (line.find("Collective test starting:") != std::string_view::npos) {
      begin_run();
      current().setup.program = words.back();
    } else if (words.size() > 1 && words[1] == "Rank") {
      if (auto seat = seat_of(words, line); seat && current().setup.seats.size() < kSeatsMax) {
        current().setup.seats.push_back(std::move(*seat));
      }
    } else {
      read_footer(line, words);
    }
  }

  void read_versions(const Words& words) {
    Setup& setup = current().setup;
    setup.tool_version = fmt::format("nccl-tests {}", words[3]);
    constexpr std::string_view kLibrary = "nccl-library=";
    for (const std::string_view word : words) {
      if (!word.starts_with(kLibrary)) continue;
      setup.library_version = text::integer_of<int>(word.substr(kLibrary.size())).value_or(0);
      if (setup.library_version > 0) setup.library = version_text(setup.library_version);
    }
  }

  void read_footer(std::string_view line, const Words& words) {
    const auto colon = std::find(words.begin(), words.end(), ":");
    if (colon == words.end() || colon + 1 == words.end()) return;
    if (line.find("Out of bounds values") != std::string_view::npos) {
      current().out_of_bounds = text::integer_of<std::int64_t>(*(colon + 1)).value_or(0);
    } else if (line.find("Avg bus bandwidth") != std::string_view::npos) {
      current().average_bus_gbps = text::real_of(*(colon + 1)).value_or(0);
      if (words.back() == "OK" || words.back() == "FAILED") current().bandwidth_reached = words.back() == "OK";
    }
  }

  void read_row(const Words& words) {
    const bool looks_like_row =
        words.size() > 4 && text::integer_of<std::uint64_t>(words[0]) && text::integer_of<std::uint64_t>(words[1]);
    if (!looks_like_row) return;
    if (auto row = row_of(words, *columns_)) {
      current().rows.push_back(std::move(*row));
    } else if (current().remarks.size() < kRemarksMax) {
      current().remarks.push_back(
          fmt::format("line {} looks like a row but does not fit the columns of its table; "
                      "it is left out",
                      line_number_));
    }
  }

  static void finish(Run& run) {
    std::set<std::pair<std::string, int>> processes;
    for (const Seat& seat : run.setup.seats) processes.emplace(seat.host, seat.pid);
    run.setup.processes = static_cast<int>(processes.size());
  }

  std::vector<Run> runs_;
  std::optional<Columns> columns_;
  std::vector<std::size_t> table_lines_;
  std::size_t line_number_ = 0;
};

Result<std::vector<Run>> read_all(std::string_view text, std::vector<std::size_t>& table_lines) {
  Reader reader;
  for (const std::string_view line : text::split(text, '\n')) reader.read(line);
  table_lines = reader.table_lines();
  if (!reader.has_table()) {
    return invalid_argument(
        "there is no table of nccl-tests in it: no line begins with # and names the columns size, count, type, algbw "
        "and busbw");
  }
  std::vector<Run> runs = reader.take_runs();
  if (runs.empty()) return invalid_argument(fmt::format("the table of line {} has no rows", table_lines.front()));
  return runs;
}

}  // namespace

Result<std::vector<Run>> parse_tables(std::string_view text) {
  std::vector<std::size_t> table_lines;
  return read_all(text, table_lines);
}

Result<Run> parse_table(std::string_view text) {
  std::vector<std::size_t> table_lines;
  TUTTI_ASSIGN(std::vector<Run> runs, read_all(text, table_lines));
  if (runs.size() > 1) {
    return invalid_argument(fmt::format("there are {} tables in it, at lines {}; keep the one that is meant",
                                        runs.size(), fmt::join(table_lines, ", ")));
  }
  return std::move(runs.front());
}

}  // namespace tutti::perf
