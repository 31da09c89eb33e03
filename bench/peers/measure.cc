#include "bench/peers/measure.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "base/text.h"

namespace tutti::bench {

using plan::Collective;

namespace {

constexpr int kBatches = 3;                 // the median of these is reported: one interruption does not count
constexpr double kWarmupShare = 0.25;       // of the seconds for the timed calls
constexpr std::int64_t kWarmupCalls = 2;    // at least, however slow they are
constexpr std::int64_t kCallsMax = 200000;  // of one batch
constexpr float kUntouched = -1;            // no contribution and no sum is negative

std::size_t pattern(Rank rank, std::size_t index) { return (index * 7 + 3) % 61 + static_cast<std::size_t>(rank); }

// The value of this name where any text will do; nullptr: there is none.
std::string* find_text(Request& request, std::string_view name) {
  if (name == "store") return &request.store;
  if (name == "algorithm") return &request.algorithm;
  if (name == "waiting") return &request.waiting;
  if (name == "address") return &request.address;
  if (name == "identifier_out") return &request.identifier_out;
  if (name == "identifier_in") return &request.identifier_in;
  return nullptr;
}

Status set_value(Request& request, std::string_view name, std::string_view value) {
  const auto wrong = [&] { return invalid_argument(fmt::format("'{}' is no value for {}=", value, name)); };
  const auto set_rank = [&](Rank& rank) {
    const auto number = text::integer_of<Rank>(value);
    if (!number) return wrong();
    rank = *number;
    return Status();
  };
  if (name == "collective") {
    const auto collective = plan::collective_of(value);
    if (!collective) return wrong();
    request.collective = *collective;
  } else if (name == "sizes") {
    for (const std::string_view word : text::split(value, ',')) {
      const auto bytes = text::bytes_of(word);
      if (!bytes) return wrong();
      request.sizes.push_back(*bytes);
    }
  } else if (name == "seconds") {
    const auto seconds = text::real_of(value);
    if (!seconds || *seconds <= 0) return wrong();
    request.seconds = *seconds;
  } else if (name == "rank") {
    return set_rank(request.rank);
  } else if (name == "ranks") {
    return set_rank(request.ranks);
  } else if (name == "buffers") {
    if (value != "malloc" && value != "allocated") return wrong();
    request.buffers = value;
  } else if (std::string* text = find_text(request, name)) {
    *text = value;
  } else {
    return invalid_argument(fmt::format("nothing is called '{}='", name));
  }
  return {};
}

// The buffers of one size and the call on them.
struct Work {
  Job job;
  std::array<Buffer, 2> buffers;
};

Result<Work> create_work(Collective collective, std::uint64_t bytes, Driver& driver) {
  const auto ranks = static_cast<std::size_t>(driver.size());
  const std::size_t blocks = plan::has_blocks(collective) ? ranks : 1;
  const std::size_t count = std::max<std::size_t>(1, bytes / sizeof(float) / blocks);
  const bool is_gathered = collective == Collective::all_gather || collective == Collective::gather;
  Work work;
  TUTTI_ASSIGN(work.buffers[0], driver.allocate(is_gathered ? count : count * blocks));
  TUTTI_ASSIGN(work.buffers[1], driver.allocate(count * blocks));
  work.job = {collective, work.buffers[0].elements, work.buffers[1].elements, count};
  return work;
}

// A broadcast has one buffer, its output; it starts with what the root has.
void refill(const Job& job, Rank rank) {
  fill_pattern(job.in, rank);
  std::fill(job.out.begin(), job.out.end(), kUntouched);
  if (job.collective == Collective::broadcast && rank == job.root) fill_pattern(job.out, rank);
}

std::size_t expected(const Job& job, Rank rank, Rank ranks, std::size_t index) {
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t own_block = static_cast<std::size_t>(rank) * job.count;
  const auto sum = [&](std::size_t at) { return n * pattern(0, at) + n * (n - 1) / 2; };
  const auto block_rank = static_cast<Rank>(index / job.count);
  switch (job.collective) {
    case Collective::all_reduce:
    case Collective::reduce: return sum(index);
    case Collective::reduce_scatter: return sum(own_block + index);
    case Collective::broadcast: return pattern(job.root, index);
    case Collective::all_gather:
    case Collective::gather: return pattern(block_rank, index % job.count);
    case Collective::scatter: return pattern(job.root, own_block + index);
    case Collective::all_to_all: return pattern(block_rank, own_block + index % job.count);
    case Collective::send_receive: return pattern((rank + ranks - 1) % ranks, index);
    case Collective::barrier: break;
  }
  return 0;
}

// How many elements of the output a rank gets.
std::size_t result_count(const Job& job, Rank rank) {
  switch (job.collective) {
    case Collective::reduce:
    case Collective::gather: return rank == job.root ? job.out.size() : 0;
    case Collective::reduce_scatter:
    case Collective::scatter: return job.count;
    case Collective::barrier: return 0;
    case Collective::all_reduce:
    case Collective::all_gather:
    case Collective::broadcast:
    case Collective::all_to_all:
    case Collective::send_receive: break;
  }
  return job.out.size();
}

// One more call, from fresh buffers, compared element by element.
Result<double> count_wrong(const Job& job, Driver& driver) {
  refill(job, driver.rank());
  TUTTI_TRY(driver.barrier());
  TUTTI_TRY(driver.run());
  double wrong = 0;
  for (std::size_t i = 0; i < result_count(job, driver.rank()); ++i) {
    if (job.out[i] != static_cast<float>(expected(job, driver.rank(), driver.size(), i))) ++wrong;
  }
  return driver.max(wrong);
}

// Seconds a call, back to back: the slowest rank's mean.
Result<double> time_batch(std::int64_t calls, Driver& driver) {
  TUTTI_TRY(driver.barrier());
  const double begin = now_s();
  for (std::int64_t i = 0; i < calls; ++i) TUTTI_TRY(driver.run());
  return driver.max((now_s() - begin) / static_cast<double>(calls));
}

// All ranks see the same times, so all of them come to the same number of calls.
Result<double> time_calls(double seconds, Driver& driver) {
  double call_s = 0;
  double spent_s = 0;
  std::int64_t done = 0;
  for (std::int64_t calls = 1; done < kWarmupCalls || spent_s < seconds * kWarmupShare; calls *= 2) {
    TUTTI_ASSIGN(call_s, time_batch(calls, driver));
    spent_s += call_s * static_cast<double>(calls);
    done += calls;
  }
  const double fitting = seconds / kBatches / std::max(call_s, 1e-9);
  const std::int64_t calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, kCallsMax);
  std::array<double, kBatches> times{};
  for (double& time : times) {
    TUTTI_ASSIGN(time, time_batch(calls, driver));
  }
  std::sort(times.begin(), times.end());
  return times[kBatches / 2];
}

Status measure_size(const Request& request, std::uint64_t bytes, Driver& driver) {
  TUTTI_ASSIGN(const Work work, create_work(request.collective, bytes, driver));
  refill(work.job, driver.rank());
  TUTTI_TRY(driver.prepare(work.job));
  TUTTI_ASSIGN(const double call_s, time_calls(request.seconds, driver));
  TUTTI_ASSIGN(const double wrong, count_wrong(work.job, driver));
  if (driver.rank() == 0) {
    fmt::print("{}\t{}\t{}\t{:.4e}\t{:.0f}\n", plan::name_of(request.collective), bytes, driver.size(), call_s, wrong);
    std::fflush(stdout);
  }
  return driver.barrier();  // nobody frees what another may still read
}

}  // namespace

Result<Buffer> map_buffer(std::size_t element_count) {
  const std::size_t bytes = element_count * sizeof(float);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return Status(Code::out_of_memory,
                  fmt::format("no {} for a buffer; measure smaller sizes", text::bytes_text(bytes)));
  }
  return Buffer{{static_cast<float*>(pages), element_count},
                std::shared_ptr<void>(pages, [bytes](void* address) { munmap(address, bytes); })};
}

Result<Request> request_of(int argument_count, const char* const* arguments) {
  Request request;
  for (const std::string_view word : std::span(arguments, static_cast<std::size_t>(argument_count)).subspan(1)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return invalid_argument(fmt::format("'{}' is not name=value", word));
    TUTTI_TRY(set_value(request, word.substr(0, equals), word.substr(equals + 1)));
  }
  if (request.sizes.empty()) return invalid_argument("no sizes; give sizes=8,64K,1M");
  return request;
}

double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void fill_pattern(std::span<float> elements, Rank rank) {
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(pattern(rank, i));
}

Status measure(const Request& request, Driver& driver) {
  for (const std::uint64_t bytes : request.sizes) TUTTI_TRY(measure_size(request, bytes, driver));
  if (driver.rank() == 0) fmt::print("{}", kEndLine);
  std::fflush(stdout);
  return {};
}

int exit_code_of(const Status& status) {
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.text());
  return 1;
}

}  // namespace tutti::bench
