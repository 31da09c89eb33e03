#include "tools/tutti/demo_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <vector>

#include "base/text.h"
#include "os/clock.h"
#include "os/machine.h"
#include "tools/tutti/command.h"
#include "tutti/communicator.h"

namespace tutti::tool {

namespace {

constexpr double kSecondsPerSize = 0.25;
constexpr double kCallsMin = 3;
constexpr double kCallsMax = 20000;
constexpr std::uint64_t kGrowth = 4;  // from one size to the next
constexpr std::chrono::seconds kTimeout{30};
constexpr std::size_t kPeriod = 1021;  // inputs repeat; sums of them are exact for any number of ranks

struct Row {
  std::uint64_t bytes = 0;
  double seconds = 0;       // of one call, on the slowest rank
  std::uint64_t wrong = 0;  // over all ranks
  std::string plan;
};

// A float buffer, in memory that other processes reach or in memory of this one.
class Buffer {
 public:
  static Result<Buffer> create(std::size_t count, bool is_shared) {
    Buffer buffer;
    if (is_shared) {
      TUTTI_ASSIGN(buffer.shared_, allocate(count * sizeof(float)));
    } else {
      buffer.private_.resize(count);
    }
    return buffer;
  }
  std::span<float> first(std::size_t count) {
    return (private_.empty() ? shared_.as<float>() : std::span(private_)).first(count);
  }

 private:
  Memory shared_;
  std::vector<float> private_;
};

double seconds_since(Time start) { return static_cast<double>(os::now().ns - start.ns) * 1e-9; }

class DemoRank {
 public:
  DemoRank(Communicator communicator, Buffer in, Buffer out)
      : communicator_(std::move(communicator)), in_(std::move(in)), out_(std::move(out)) {}

  Result<Row> measure(std::uint64_t bytes) {
    const std::size_t count = bytes / sizeof(float);
    const std::span<float> in = in_.first(count);
    const std::span<float> out = out_.first(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = input(i);
    const auto call = [&] { return communicator_.all_reduce(std::span<const float>(in), out); };
    for (int i = 0; i < 2; ++i) TUTTI_TRY(call());  // pages are touched, the plan is made
    TUTTI_ASSIGN(const std::uint64_t calls, calls_worth(call));
    std::fill(out.begin(), out.end(), -1.0f);
    TUTTI_TRY(communicator_.barrier());
    const Time start = os::now();
    for (std::uint64_t i = 0; i < calls; ++i) TUTTI_TRY(call());
    Row row{.bytes = bytes,
            .seconds = seconds_since(start) / static_cast<double>(calls),
            .wrong = wrong_values(out),
            .plan = communicator_.last_plan()};
    has_wrong_ = has_wrong_ || row.wrong > 0;
    TUTTI_TRY(communicator_.all_reduce(std::span(&row.seconds, 1), Op::max));
    TUTTI_TRY(communicator_.all_reduce(std::span(&row.wrong, 1)));
    return row;
  }

  bool has_wrong() const { return has_wrong_; }

 private:
  float input(std::size_t i) const {
    return static_cast<float>(i % kPeriod) + static_cast<float>(communicator_.rank());
  }

  std::uint64_t wrong_values(std::span<const float> out) const {
    const auto n = static_cast<float>(communicator_.size());
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float expected = n * static_cast<float>(i % kPeriod) + n * (n - 1) / 2;
      wrong += out[i] == expected ? 0 : 1;
    }
    return wrong;
  }

  // As many calls as take the time for one size, as rank 0 finds.
  template <class Call>
  Result<std::uint64_t> calls_worth(const Call& call) {
    const Time start = os::now();
    TUTTI_TRY(call());
    std::uint64_t calls[] = {static_cast<std::uint64_t>(
        std::clamp(kSecondsPerSize / std::max(seconds_since(start), 1e-9), kCallsMin, kCallsMax))};
    TUTTI_TRY(communicator_.broadcast(std::span<std::uint64_t>(calls), 0));
    return calls[0];
  }

  Communicator communicator_;
  Buffer in_;
  Buffer out_;
  bool has_wrong_ = false;
};

void print_heading(const DemoOptions& options) {
  fmt::print("all_reduce of float32, {} ranks as processes on {} cores, {} buffers\n\n", options.ranks,
             os::this_machine().usable_cores, options.memory);
  fmt::print("{:>10} {:>12} {:>13} {:>13} {:>7}  {}\n", "size", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "wrong",
             "plan");
  std::fflush(stdout);
}

void print(const Row& row, Rank ranks) {
  const double algorithm_bandwidth = static_cast<double>(row.bytes) / row.seconds * 1e-9;
  const double factor = 2.0 * (ranks - 1) / ranks;
  fmt::print("{:>10} {:>12.2f} {:>13.3f} {:>13.3f} {:>7}  {}\n", text::bytes_text(row.bytes), row.seconds * 1e6,
             algorithm_bandwidth, algorithm_bandwidth * factor, row.wrong, row.plan);
  std::fflush(stdout);
}

Result<bool> run(const DemoOptions& options, Rank rank, const std::string& store) {
  TUTTI_ASSIGN(
      auto communicator,
      Communicator::create(
          {.rank = rank, .size = options.ranks, .store = store, .start_timeout = kTimeout, .timeout = kTimeout}));
  const std::size_t count = options.bytes_max / sizeof(float);
  const bool is_shared = options.memory == "shared";
  TUTTI_ASSIGN(auto in, Buffer::create(count, is_shared));
  TUTTI_ASSIGN(auto out, Buffer::create(count, is_shared));
  TUTTI_TRY(communicator.barrier());  // all are here
  DemoRank demo(std::move(communicator), std::move(in), std::move(out));
  if (rank == 0) print_heading(options);
  for (std::uint64_t bytes = options.bytes_min;; bytes = std::min(bytes * kGrowth, options.bytes_max)) {
    TUTTI_ASSIGN(const Row row, demo.measure(bytes));
    if (rank == 0) print(row, options.ranks);
    if (bytes == options.bytes_max) break;
  }
  return !demo.has_wrong();
}

}  // namespace

int run_demo_rank(const DemoOptions& options, Rank rank, const std::string& store) {
  const auto is_right = run(options, rank, store);
  if (!is_right) {
    fmt::print(stderr, "tutti demo: rank {}: {}\n", rank, is_right.status().text());
    return kExitFailed;
  }
  if (!*is_right) fmt::print(stderr, "tutti demo: rank {} got wrong values\n", rank);
  return *is_right ? kExitDone : kExitFailed;
}

}  // namespace tutti::tool
