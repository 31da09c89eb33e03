#include "tools/perf/tool.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/text.h"
#include "os/environment.h"
#include "os/thread.h"
#include "tools/perf/crew.h"
#include "tools/perf/failure.h"
#include "tools/perf/outputs.h"
#include "tools/perf/processes.h"
#include "tools/perf/progress.h"
#include "tools/perf/results.h"
#include "tools/perf/setup.h"
#include "tools/perf/station.h"
#include "tools/perf/table.h"
#include "tools/perf/worker.h"

namespace tutti::perf {

namespace {

constexpr int kWrongSentencesMax = 16;  // they are alike

Result<double> setting(const char* name, double low, double high, double otherwise) {
  const auto text = os::environment_variable(name);
  if (!text) return otherwise;
  const auto value = text::real_of(*text);
  if (!value || !(*value >= low) || !(*value <= high))
    return invalid_argument(fmt::format("{}={}: give a number from {} to {}", name, *text, low, high));
  return *value;
}

Result<Traffic> traffic_of_environment() {
  TUTTI_ASSIGN(const double spread, setting("NCCL_TESTS_ALLTOALLV_SPREAD", 0, 1, 1));
  TUTTI_ASSIGN(const double scale, setting("NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", 0, 1e12, 1));
  const auto path = os::environment_variable("NCCL_TESTS_ALLTOALLV_MATRIX_FILE");
  if (!path) return Traffic(spread);
  return Traffic::read(*path, scale);
}

// The run as this process sees it, from the first word to the last.
class Tool {
 public:
  explicit Tool(Invocation invocation)
      : program_(std::move(invocation.program)),
        command_(std::move(invocation.command)),
        collective_(*invocation.collective),
        options_(std::move(invocation.options)) {}

  Result<int> run() {
    TUTTI_TRY(prepare());
    TUTTI_TRY(take_seats());
    TUTTI_TRY(fit_memory());
    TUTTI_TRY(start());
    if (is_first()) print(table_head(options_));
    TUTTI_TRY(measure());
    return conclude();
  }

 private:
  Status prepare();
  Status agree(std::string_view what, const Status& mine);
  Status take_seats();
  Status find_groups(std::span<const std::string> colors);
  Status fit_memory();
  Status validate_ranks();
  Status start();
  Status open_line(std::span<const std::string> ids);
  Status measure();
  Status run_threads(const Job& job, const Observer& observer);
  Status start_thread(int thread);
  Result<int> conclude();
  void report_memory();
  Observer observer();
  std::string shares_of_ranks(const Row& row) const;

  bool is_first() const { return processes_.rank() == 0; }
  int stations_per_process() const { return options_.threads * options_.devices; }
  std::span<Station> stations_of(int thread) {
    const auto count = static_cast<std::size_t>(options_.devices);
    return std::span(stations_).subspan(static_cast<std::size_t>(thread) * count, count);
  }
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  std::string program_;
  std::vector<std::string> command_;
  const Collective& collective_;
  Options options_;
  Traffic traffic_;
  Sizes sizes_;
  Processes processes_;
  Outputs outputs_;
  Progress progress_;
  int local_process_ = 0;
  int local_processes_ = 1;
  int group_ = 0;
  int group_process_ = 0;  // this process in its group
  int group_leader_ = 0;   // the first process of it
  int group_processes_ = 1;
  ncclUniqueId id_{};
  std::unique_ptr<Line> line_;
  std::unique_ptr<Crew> crew_;
  std::vector<Station> stations_;
  std::vector<Totals> totals_;
  std::mutex writing_;  // sentences about wrong data come from every thread
  int wrong_sentences_ = 0;
  Run run_;
  bool prints_shares_ = false;  // NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY
  std::int64_t started_memory_ = 0;
  std::int64_t buffer_memory_ = 0;
  std::int64_t collective_memory_ = 0;
};

std::int64_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<std::int64_t>(free) : 0;
}

Status Tool::prepare() {
  TUTTI_TRY(validate(options_));
  TUTTI_ASSIGN(sizes_, sizes_of(options_));
  TUTTI_ASSIGN(traffic_, traffic_of_environment());
  TUTTI_ASSIGN(const double summary, setting("NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", 0, 1e9, 0));
  prints_shares_ = summary != 0 && collective_.name == "alltoallv";
  // What is used later is looked at now, before anybody waits for anybody.
  TUTTI_TRY(setting("NCCL_TESTS_MIN_BW", 0, 1e12, -1).status());
  TUTTI_TRY(color_of(0).status());
  TUTTI_ASSIGN(processes_, Processes::join());
  // Alone, and with nothing to lose: a laptop has no other devices.
  if (!options_.has_devices && processes_.size() == 1 && has_virtual_devices())
    TUTTI_TRY(of_cuda(cudaGetDeviceCount(&options_.devices), "cudaGetDeviceCount"));
  return agree("outputs", is_first() ? outputs_.open(options_) : Status());
}

// What ends one process ends them all: nobody is to wait for it.
Status Tool::agree(std::string_view what, const Status& mine) {
  TUTTI_ASSIGN(const auto failures, processes_.exchange(what, mine ? "" : "failed"));
  const auto failure = std::ranges::find(failures, "failed");
  if (failure == failures.end()) return {};
  static_cast<void>(processes_.leave());
  if (!mine) return mine;
  return {Code::aborted, fmt::format("process {} has failed; it says why", failure - failures.begin())};
}

Status Tool::find_groups(std::span<const std::string> colors) {
  for (int process = 0; process < processes_.size(); ++process) {
    if (colors[static_cast<std::size_t>(process)] != std::to_string(group_)) continue;
    if (group_processes_ == 0) group_leader_ = process;
    if (process < processes_.rank()) ++group_process_;
    ++group_processes_;
  }
  return {};
}

Status Tool::take_seats() {
  TUTTI_ASSIGN(group_, color_of(processes_.rank()));
  TUTTI_ASSIGN(const auto hosts, processes_.exchange("hosts", host_identity()));
  const auto self = static_cast<std::size_t>(processes_.rank());
  local_process_ = static_cast<int>(std::count(hosts.begin(), hosts.begin() + processes_.rank(), hosts[self]));
  local_processes_ = static_cast<int>(std::ranges::count(hosts, hosts[self]));
  TUTTI_ASSIGN(const auto colors, processes_.exchange("colors", std::to_string(group_)));
  group_processes_ = 0;
  TUTTI_TRY(find_groups(colors));
  TUTTI_TRY(validate_ranks());
  const auto mine = seats_of({.process = processes_.rank(),
                              .local_process = local_process_,
                              .group = group_,
                              .count = stations_per_process()});
  TUTTI_TRY(agree("devices", mine.status()));
  TUTTI_ASSIGN(const auto all, processes_.exchange("seats", seats_text(*mine)));
  run_.setup = describe_run(program_, command_, options_);
  run_.setup.processes = processes_.size();
  for (const std::string& lines : all) {
    for (Seat& seat : parse_seats(lines)) run_.setup.seats.push_back(std::move(seat));
  }
  for (int i = 0; i < stations_per_process(); ++i) {
    stations_.push_back(
        {.rank = group_process_ * stations_per_process() + i, .device = (*mine)[static_cast<std::size_t>(i)].device});
  }
  if (!is_first()) return {};
  print(outputs_.note() + preamble(run_.setup, options_));
  for (const Seat& seat : run_.setup.seats) print(seat_line(seat));
  return {};
}

Status Tool::validate_ranks() {
  const int ranks = group_processes_ * stations_per_process();
  if (collective_.has_root && options_.root != kAllRoots && (options_.root < 0 || options_.root >= ranks))
    return invalid_argument(
        fmt::format("there is no rank {} to be the root (-r): ranks are 0 to {}", options_.root, ranks - 1));
  if (collective_.name == "hypercube" && !std::has_single_bit(static_cast<unsigned>(ranks)))
    return invalid_argument(fmt::format("hypercube needs a power of two of ranks, not {}", ranks));
  if (collective_.name != "alltoallv" || !traffic_.is_fixed()) return {};
  if (traffic_.dimension() < ranks)
    return invalid_argument(
        fmt::format("the traffic matrix is for {} ranks, but there are {}", traffic_.dimension(), ranks));
  if (options_.min_bytes != options_.max_bytes)
    return invalid_argument("sizes come from the traffic matrix: give -b and -e the same value");
  const std::uint64_t largest = traffic_.largest_bytes(ranks, 0);
  if (options_.max_bytes >= largest) return {};
  return invalid_argument(fmt::format("the traffic matrix needs buffers of {} bytes; raise -b and -e, which are {}",
                                      largest, options_.max_bytes));
}

// As nccl-tests: goes on with what fits, and says so. All processes must come to the same answer.
Status Tool::fit_memory() {
  std::vector<int> devices;
  for (const Station& station : stations_) devices.push_back(station.device);
  TUTTI_ASSIGN(const std::uint64_t memory, memory_of(devices, local_processes_ * stations_per_process()));
  const std::uint64_t mine = largest_buffer(memory, has_virtual_devices(), options_.checks > 0);
  TUTTI_ASSIGN(const auto all, processes_.exchange("memory", std::to_string(mine)));
  std::uint64_t least = mine;
  for (const std::string& text : all) least = std::min(least, text::integer_of<std::uint64_t>(text).value_or(least));
  if (options_.max_bytes <= least) return {};
  options_.max_bytes = least;
  options_.min_bytes = std::min(options_.min_bytes, least);
  TUTTI_ASSIGN(sizes_, sizes_of(options_));
  sizes_.remark.clear();  // nobody asked for this limit
  run_.setup.min_bytes = options_.min_bytes;
  run_.setup.max_bytes = options_.max_bytes;
  if (is_first()) print(fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", options_.max_bytes));
  return {};
}

Status Tool::open_line(std::span<const std::string> ids) {
  if (processes_.size() == 1) return {};
  ncclUniqueId id{};
  std::copy_n(ids[0].data() + sizeof id, sizeof id, reinterpret_cast<char*>(&id));
  TUTTI_ASSIGN(line_, Line::open(id, processes_.rank(), processes_.size(), stations_.front().device));
  return {};
}

Status Tool::start() {
  std::string mine;  // of the group, and of all processes
  TUTTI_TRY(of_cuda(cudaSetDevice(stations_.front().device), "cudaSetDevice"));
  for (int i = 0; group_process_ == 0 && i < (is_first() ? 2 : 1); ++i) {
    ncclUniqueId id{};
    TUTTI_TRY(of_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId"));
    mine.append(reinterpret_cast<const char*>(&id), sizeof id);
  }
  mine.resize(2 * sizeof(ncclUniqueId));
  TUTTI_ASSIGN(const auto ids, processes_.exchange("identifiers", mine));
  std::copy_n(ids[static_cast<std::size_t>(group_leader_)].data(), sizeof id_, reinterpret_cast<char*>(&id_));
  TUTTI_TRY(open_line(ids));
  TUTTI_TRY(processes_.leave());
  crew_ = std::make_unique<Crew>(options_.threads, line_.get());
  TUTTI_TRY(create_streams(stations_, options_));
  if (options_.parallel_start != 0) return {};
  const std::int64_t before = free_memory();
  TUTTI_TRY(start_communicators(stations_, id_, group_processes_ * stations_per_process(), options_));
  const std::int64_t between = free_memory();
  TUTTI_TRY(allocate(stations_, options_.max_bytes, options_));
  started_memory_ = before - between;
  buffer_memory_ = between - free_memory();
  return {};
}

Status Tool::start_thread(int thread) {
  const std::span<Station> stations = stations_of(thread);
  if (options_.parallel_start == 0) return {};
  TUTTI_TRY(start_communicators(stations, id_, group_processes_ * stations_per_process(), options_));
  return allocate(stations, options_.max_bytes, options_);
}

// What each rank of alltoallv moved, in lines.
std::string Tool::shares_of_ranks(const Row& row) const {
  const int ranks = group_processes_ * stations_per_process();
  const std::uint64_t total = row.count * static_cast<std::uint64_t>(ranks) * find_type(row.type)->bytes;
  std::string lines;
  for (int rank = 0; rank < ranks && row.out_of_place; ++rank) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int peer = 0; peer < ranks; ++peer) {
      sent += traffic_.bytes(rank, peer, ranks, total);
      received += traffic_.bytes(peer, rank, ranks, total);
    }
    const double bandwidth = static_cast<double>(std::max(sent, received)) / row.out_of_place->time_us / 1e3;
    lines += fmt::format("#   rank={} send_bytes={} recv_bytes={} alg_bw={:.2f} bus_bw={:.2f}\n", rank, sent, received,
                         bandwidth, bandwidth * collective_.bus_factor(ranks));
  }
  return lines;
}

Observer Tool::observer() {
  return {
      .row_begins =
          [this](const Row& row) {
            progress_.show(fmt::format("{} of {}", text::bytes_text(row.bytes), row.type));
            print(row_begin(row));
          },
      .measured = [this](const Measurement& measurement,
                         Place place) { print(row_part(measurement, place, options_, local_time())); },
      .row_ends =
          [this](const Row& row) {
            progress_.hide();
            for (const std::string& line : lines_about(row, options_)) print("# " + line + "\n");
            if (prints_shares_) print(shares_of_ranks(row));
            if (options_.cycles > 0) run_.rows.push_back(row);
          },
      .found_wrong =
          [this](const std::string& sentence) {
            const std::lock_guard lock(writing_);
            if (!is_first()) fmt::print(stderr, "{}: {}\n", program_, sentence);
            if (++wrong_sentences_ <= kWrongSentencesMax) run_.remarks.push_back(sentence);
          },
  };
}

Status Tool::run_threads(const Job& job, const Observer& observer) {
  totals_.resize(static_cast<std::size_t>(options_.threads));
  // A thread that fails ends the process at once: the others may be waiting for it in calls that have no end.
  const auto work = [&](int thread) {
    Status status = start_thread(thread);
    if (status) {
      Worker worker(job, thread, stations_of(thread), observer);
      status = worker.run();
      totals_[static_cast<std::size_t>(thread)] = worker.totals();
    }
    if (status) return;
    status = cause_of(status, stations_of(thread));
    fmt::print(stderr, "\n{}: {}\n", program_, status.text());
    std::fflush(nullptr);
    std::_Exit(exit_code_of(status));
  };
  std::vector<os::Thread> threads;
  for (int thread = 1; thread < options_.threads; ++thread) {
    TUTTI_ASSIGN(os::Thread started, os::Thread::start("perf", [&work, thread] { work(thread); }));
    threads.push_back(std::move(started));
  }
  work(0);
  return {};
}

Status Tool::measure() {
  const Observer told = observer();
  const Job job{.options = options_,
                .collective = collective_,
                .traffic = traffic_,
                .sizes = sizes_.bytes,
                .buffer_bytes = options_.max_bytes,
                .ranks = group_processes_ * stations_per_process(),
                .process = processes_.rank(),
                .crew = *crew_};
  const std::int64_t before = free_memory();
  TUTTI_TRY(run_threads(job, told));
  collective_memory_ = before - free_memory();
  return {};
}

void Tool::report_memory() {
  if (options_.report_memory == 0) return;
  print(fmt::format("# {:<20} : Initialization {} | User-Allocated {} | Collective {} | Total  {}\n",
                    "GPU memory usage", memory_text(started_memory_), memory_text(buffer_memory_),
                    memory_text(collective_memory_),
                    memory_text(started_memory_ + buffer_memory_ + collective_memory_)));
}

Result<int> Tool::conclude() {
  TUTTI_TRY(release(stations_, options_));
  line_.reset();
  const Totals& totals = totals_.front();  // the same in all
  run_.out_of_bounds = totals.out_of_bounds;
  if (totals.measurements > 0) run_.average_bus_gbps = totals.bus_gbps / static_cast<double>(totals.measurements);
  TUTTI_ASSIGN(const double least, setting("NCCL_TESTS_MIN_BW", 0, 1e12, -1));
  if (least >= 0) run_.bandwidth_reached = run_.average_bus_gbps >= 0.9 * least;
  const bool is_wrong = run_.out_of_bounds != 0 || !run_.bandwidth_reached.value_or(true);
  if (!is_first()) return is_wrong ? kExitWrong : kExitDone;
  run_.setup.ended = universal_time();
  print(table_foot(run_));
  report_memory();
  print("#\n");
  if (wrong_sentences_ > kWrongSentencesMax)
    run_.remarks.push_back(fmt::format("{} more buffers were wrong", wrong_sentences_ - kWrongSentencesMax));
  if (!sizes_.remark.empty()) run_.remarks.push_back(sizes_.remark);
  const Result<Judgement> judgement = outputs_.judge(run_, options_);
  if (judgement) print(judgement->text);
  TUTTI_TRY(outputs_.write(run_, options_));  // also where a run cannot be judged
  if (is_wrong) return kExitWrong;
  if (!judgement) return judgement.status();
  return judgement->is_slower ? kExitSlower : kExitDone;
}

}  // namespace

int run_tool(Invocation invocation) {
  const std::string program = invocation.program;
  Tool tool(std::move(invocation));
  const Result<int> code = tool.run();
  if (code) return *code;
  fmt::print(stderr, "{}: {}\n", program, code.status().text());
  return exit_code_of(code.status());
}

}  // namespace tutti::perf
