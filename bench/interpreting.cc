// What interpreting a plan costs: an all-reduce of two threads through a communicator beside the same all-reduce
// written by hand, with the same kernel and the same meetings. From 64 KiB up it may cost 3 %. Run: bench_interpreting
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/text.h"
#include "bench/comparison/load.h"
#include "bench/peers/measure.h"
#include "engine/host/kernels/kernels.h"
#include "engine/host/launch.h"
#include "os/machine.h"
#include "os/relax.h"
#include "tutti/chunk_map.h"
#include "tutti/communicator.h"

namespace {

using namespace tutti;
using bench::Buffer;
using bench::now_s;

constexpr std::size_t kRanks = 2;
constexpr double kRatioMax = 1.03;
constexpr std::uint64_t kRatioFromBytes = 64 << 10;
constexpr float kUntouched = -1;  // no input and no sum is negative
constexpr std::int64_t kCallsMax = 1 << 20;
// A communicator looks 500 times before it gives the core away. A look at a flag alone is faster, so there are more of
// them: with less patience the hand-written loop would lose time to the scheduler that the other one does not.
constexpr int kPolls = 10000;

struct Options {
  std::string sizes = "8,4K,64K,256K,1M,16M";
  int repeats = 15;
  double seconds = 0.02;
  int polls = kPolls;
  bool is_pinned = false;
};

// The calling thread stays on one of the cores that this process may use: the rank-th, where there are enough.
void pin(std::size_t rank, const cpu_set_t& usable) {
  cpu_set_t one;
  CPU_ZERO(&one);
  std::size_t seen = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable) && seen++ == rank) CPU_SET(core, &one);
  }
  if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof(one), &one);
}

// Both threads come, then both go on. They look for as long as a communicator does before they give the core away.
class Meeting {
 public:
  explicit Meeting(int polls) : polls_(os::this_machine().usable_cores >= static_cast<int>(kRanks) ? polls : 1) {}

  void meet(std::size_t rank) {
    Flag& mine = flags_[rank];
    const Flag& other = flags_[1 - rank];
    const std::uint64_t turn = mine.turn.load(std::memory_order_relaxed) + 1;
    mine.turn.store(turn, std::memory_order_release);
    for (int poll = 0; other.turn.load(std::memory_order_acquire) < turn; ++poll) {
      if (poll >= polls_) os::yield_core();
    }
  }

 private:
  struct alignas(64) Flag {
    std::atomic<std::uint64_t> turn = 0;
  };
  std::array<Flag, kRanks> flags_;
  int polls_;
};

// What both ways of adding work on: the same inputs and outputs, so that neither has the better pages.
struct Vectors {
  std::array<Buffer, kRanks> in;
  std::array<Buffer, kRanks> out;

  std::size_t count() const { return in[0].elements.size(); }
};

Result<Vectors> create_vectors(std::size_t count) {
  Vectors vectors;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    TUTTI_ASSIGN(vectors.in[rank], bench::map_buffer(count));
    TUTTI_ASSIGN(vectors.out[rank], bench::map_buffer(count));
  }
  return vectors;
}

// What the plan "direct" says, as somebody would write it who needs nothing else: between two meetings each rank adds
// its share of both inputs and stores it to both outputs.
class HandWritten {
 public:
  HandWritten(const Vectors& vectors, int polls) : meeting_(polls) {
    const auto layout = plan::Layout::even(vectors.count(), kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const plan::Extent extent = layout.of(static_cast<std::uint32_t>(rank));
      Share& share = shares_[rank];
      share.elements = extent.elements;
      for (std::size_t owner = 0; owner < kRanks; ++owner) {
        share.sources[owner] = reinterpret_cast<const std::byte*>(vectors.in[owner].elements.data() + extent.offset);
        share.targets[owner] = reinterpret_cast<std::byte*>(vectors.out[owner].elements.data() + extent.offset);
      }
    }
    is_streaming_ = vectors.count() * sizeof(float) >= engine::LaunchOptions().streaming_from_bytes;
  }

  void run(std::size_t rank) {
    const Share& share = shares_[rank];
    meeting_.meet(rank);
    if (share.elements > 0) {
      kernel_(
          {.sources = share.sources, .targets = share.targets, .elements = share.elements, .streaming = is_streaming_});
    }
    meeting_.meet(rank);
  }

 private:
  struct alignas(64) Share {
    std::array<const std::byte*, kRanks> sources;
    std::array<std::byte*, kRanks> targets;
    std::uint64_t elements = 0;
  };
  std::array<Share, kRanks> shares_;
  bool is_streaming_ = false;
  engine::Kernel kernel_ = engine::kernel_of(DataType::float32, Op::sum);
  Meeting meeting_;
};

enum class Way { hand_written, interpreted };
constexpr std::array kWays = {Way::hand_written, Way::interpreted};

struct Outcome {
  std::array<std::vector<double>, kWays.size()> times;  // seconds a call, per repeat
  int crowded_batches = 0;  // after which both threads were on one core: then they time the scheduler
};

// One size, on two threads that both run the same schedule. After a failure a rank makes no more calls, but it still
// comes to every meeting, so that the other one gets to the end as well.
class Trial {
 public:
  Trial(std::vector<Communicator>& communicators, const Vectors& vectors, const Options& options)
      : communicators_(communicators),
        vectors_(vectors),
        options_(options),
        hand_written_(vectors, options.polls),
        meeting_(options.polls) {
    sched_getaffinity(0, sizeof(usable_cores_), &usable_cores_);
  }

  Result<Outcome> run() {
    {
      std::jthread second([&] { run_rank(1); });
      run_rank(0);
    }
    sched_setaffinity(0, sizeof(usable_cores_), &usable_cores_);
    for (const Status& status : statuses_) TUTTI_TRY(status);
    return outcome_;
  }

 private:
  void run_rank(std::size_t rank) {
    if (options_.is_pinned) pin(rank, usable_cores_);
    bench::fill_pattern(vectors_.in[rank].elements, static_cast<Rank>(rank));
    for (const Way way : kWays) verify(rank, way);
    std::array<std::int64_t, kWays.size()> calls{};
    for (const Way way : kWays) calls[index_of(way)] = fitting_calls(rank, way);
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      std::array order = kWays;
      if (repeat % 2 == 1) std::reverse(order.begin(), order.end());
      for (const Way way : order) {
        const double call_s = time_batch(rank, way, calls[index_of(way)]);
        if (rank != 0) continue;
        outcome_.times[index_of(way)].push_back(call_s);
        if (is_crowded_) ++outcome_.crowded_batches;
      }
    }
  }

  static std::size_t index_of(Way way) { return static_cast<std::size_t>(way); }

  void run_calls(std::size_t rank, Way way, std::int64_t calls) {
    if (way == Way::hand_written) {
      for (std::int64_t i = 0; i < calls; ++i) hand_written_.run(rank);
      return;
    }
    const std::span<const float> in = vectors_.in[rank].elements;
    const std::span<float> out = vectors_.out[rank].elements;
    Status& status = statuses_[rank];
    for (std::int64_t i = 0; i < calls && status; ++i) status = communicators_[rank].all_reduce(in, out);
  }

  // The slower thread's mean; both get the same.
  double time_batch(std::size_t rank, Way way, std::int64_t calls) {
    meeting_.meet(rank);
    const double begin = now_s();
    run_calls(rank, way, calls);
    means_[rank] = (now_s() - begin) / static_cast<double>(calls);
    cores_[rank] = sched_getcpu();
    meeting_.meet(rank);
    const double slower = std::max(means_[0], means_[1]);
    if (rank == 0) is_crowded_ = cores_[0] == cores_[1];
    meeting_.meet(rank);  // nobody writes the next mean before both have read this one
    return slower;
  }

  // Calls that take about as long as a batch should; finding out warms up.
  std::int64_t fitting_calls(std::size_t rank, Way way) {
    double call_s = 0;
    for (std::int64_t calls = 1; calls <= kCallsMax; calls *= 2) {
      call_s = time_batch(rank, way, calls);
      if (call_s * static_cast<double>(calls) > options_.seconds / 2) break;
    }
    const double fitting = options_.seconds / std::max(call_s, 1e-9);
    return static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(kCallsMax)));
  }

  void verify(std::size_t rank, Way way) {
    const std::span<float> out = vectors_.out[rank].elements;
    std::fill(out.begin(), out.end(), kUntouched);
    meeting_.meet(rank);
    run_calls(rank, way, 1);
    meeting_.meet(rank);
    Status& status = statuses_[rank];
    const std::string plan = communicators_[rank].last_plan();
    if (status && way == Way::interpreted && plan != "direct") {
      status = Status(Code::internal, fmt::format("the plan '{}' ran, not 'direct'; nothing can be compared", plan));
    }
    for (std::size_t i = 0; status && i < out.size(); ++i) {
      const float sum = vectors_.in[0].elements[i] + vectors_.in[1].elements[i];
      if (out[i] == sum) continue;
      status = Status(Code::internal, fmt::format("{} on rank {}: element {} of {} is {}, not {}",
                                                  way == Way::interpreted ? "interpreted" : "written by hand", rank, i,
                                                  out.size(), out[i], sum));
    }
    if (!status) communicators_[rank].abort(status);  // the other rank's calls do not wait for this one
    meeting_.meet(rank);
  }

  std::vector<Communicator>& communicators_;
  const Vectors& vectors_;
  const Options& options_;
  cpu_set_t usable_cores_{};
  HandWritten hand_written_;
  Meeting meeting_;
  std::array<double, kRanks> means_{};
  std::array<Status, kRanks> statuses_;
  std::array<int, kRanks> cores_{};
  bool is_crowded_ = false;  // this and the outcome are rank 0's
  Outcome outcome_;
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

double spread_of(const std::vector<double>& values) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  return (*largest - *smallest) / quantile(values, 0.5);
}

// Ratios are of batches that ran one after the other, so that a change of the machine's mood hits both alike.
void print_row(std::uint64_t bytes, const Outcome& outcome) {
  const auto& [hand_written, interpreted] = outcome.times;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < interpreted.size(); ++i) ratios.push_back(interpreted[i] / hand_written[i]);
  const double ratio = quantile(ratios, 0.5);
  const char* verdict = ratio <= kRatioMax ? "met" : "missed";
  if (bytes < kRatioFromBytes) verdict = "";
  fmt::print("{:>8} {:>13.3f} {:>14.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>6.0f} % {:>6.0f} % {:>7}\n",
             text::bytes_text(bytes), 1e6 * quantile(hand_written, 0.5), 1e6 * quantile(interpreted, 0.5), ratio,
             quantile(ratios, 0.25), quantile(ratios, 0.75),
             100 * std::max(spread_of(hand_written), spread_of(interpreted)),
             100.0 * outcome.crowded_batches / (2.0 * static_cast<double>(ratios.size())), verdict);
  std::fflush(stdout);
}

Result<std::vector<std::uint64_t>> sizes_of(std::string_view list) {
  constexpr std::uint64_t kBytesMax = 1 << 30;
  std::vector<std::uint64_t> sizes;
  for (const std::string_view word : text::split(list, ',')) {
    const auto bytes = text::bytes_of(word);
    if (!bytes || *bytes < sizeof(float) || *bytes > kBytesMax) {
      return invalid_argument(fmt::format("'{}' is no size; give 4 to 1G, such as 8, 4K or 64M", word));
    }
    sizes.push_back(*bytes / sizeof(float) * sizeof(float));
  }
  return sizes;
}

Status compare(const Options& options) {
  TUTTI_ASSIGN(const auto sizes, sizes_of(options.sizes));
  TUTTI_ASSIGN(auto communicators, Communicator::create_local(static_cast<Rank>(kRanks), {.algorithm = "direct"}));
  fmt::print("instruction set {}; all-reduce of 2 threads, float32 sum, plan \"direct\"; medians of {}\n\n",
             engine::instruction_set(), options.repeats);
  fmt::print("{:>8} {:>13} {:>14} {:>7} {:>15} {:>8} {:>8} {:>7}\n", "bytes", "by hand us", "interpreted us", "ratio",
             "quartiles", "spread", "crowded", fmt::format("<= {}", kRatioMax));
  const bench::LoadMeter load;
  for (const std::uint64_t bytes : sizes) {
    TUTTI_ASSIGN(const Vectors vectors, create_vectors(bytes / sizeof(float)));
    TUTTI_ASSIGN(const Outcome outcome, Trial(communicators, vectors, options).run());
    print_row(bytes, outcome);
  }
  fmt::print(
      "\nratio: interpreted / by hand, of neighbouring batches. crowded: batches that ended with both threads on one\n"
      "core; more than a few: distrust the row. others kept {:.2f} cores busy; above 0.1 run it again\n",
      load.foreign_cores());
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Times an all-reduce that a communicator interprets beside one written by hand, interleaved.",
               "bench_interpreting");
  Options options;
  app.add_option("--sizes", options.sizes, "bytes: a list such as 8,4K,1M")->capture_default_str();
  app.add_option("--repeats", options.repeats, "batches of each")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", options.seconds, "of one batch")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--polls", options.polls, "looks of the hand-written loop before it yields")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_flag("--pin", options.is_pinned, "each thread stays on a core of its own");
  CLI11_PARSE(app, argument_count, arguments);
  return bench::exit_code_of(compare(options));
}
