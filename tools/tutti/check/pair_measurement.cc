#include "tools/tutti/check/pair_measurement.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/bytes.h"
#include "os/clock.h"
#include "tools/tutti/check/statistics.h"

namespace tutti::tool::check {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{128} << 10;
constexpr std::chrono::milliseconds kStreamMax{10'000};  // whatever the other side asks for
constexpr std::byte kMore{1};
constexpr std::byte kLast{0};
constexpr std::int64_t kEndOfPings = 0;

std::int64_t wall_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

double seconds_between(Time from, Time to) { return static_cast<double>(to.ns - from.ns) / 1e9; }

Status write_number(rpc::Conduit& conduit, std::int64_t number, Deadline deadline) {
  std::array<std::byte, 8> bytes{};
  store_number(std::span<std::byte>(bytes), number);
  return conduit.write_all(bytes, deadline);
}

Result<std::int64_t> read_number(rpc::Conduit& conduit, Deadline deadline) {
  std::array<std::byte, 8> bytes{};
  TUTTI_TRY(conduit.read_exactly(bytes, deadline));
  return load_number<std::int64_t>(bytes);
}

struct Pings {
  std::vector<double> round_trips_s;
  std::vector<ClockSample> clocks;
};

Result<Pings> ping(rpc::Conduit& conduit, const PairEffort& effort, Deadline deadline) {
  Pings pings;
  const Deadline enough = Deadline::after(os::now(), effort.ping_time);
  // At least one, however slow it is.
  do {
    const Time begin = os::now();
    const std::int64_t asked_ns = wall_ns();
    TUTTI_TRY(write_number(conduit, asked_ns, deadline));
    TUTTI_ASSIGN(const std::int64_t theirs_ns, read_number(conduit, deadline));
    pings.clocks.push_back({asked_ns, theirs_ns, wall_ns()});
    pings.round_trips_s.push_back(seconds_between(begin, os::now()));
  } while (pings.clocks.size() < static_cast<std::size_t>(effort.pings) && !enough.has_passed(os::now()));
  TUTTI_TRY(write_number(conduit, kEndOfPings, deadline));
  return pings;
}

Status answer_pings(rpc::Conduit& conduit, Deadline deadline) {
  while (true) {  // bounded by the deadline
    TUTTI_ASSIGN(const std::int64_t asked_ns, read_number(conduit, deadline));
    if (asked_ns == kEndOfPings) return {};
    TUTTI_TRY(write_number(conduit, wall_ns(), deadline));
  }
}

// Blocks for the given time; the first byte of each says whether another follows.
Status send_stream(rpc::Conduit& conduit, std::chrono::milliseconds time, Deadline deadline) {
  std::vector<std::byte> block(kBlockBytes);
  const Deadline enough = Deadline::after(os::now(), std::min(time, kStreamMax));
  do {
    block[0] = enough.has_passed(os::now()) ? kLast : kMore;
    TUTTI_TRY(conduit.write_all(block, deadline));
  } while (block[0] == kMore);
  return {};
}

// Where data arrive is where they are counted: the sender's kernel takes more than the network has carried. The first
// block only starts the clock.
Result<double> receive_stream(rpc::Conduit& conduit, Deadline deadline) {
  std::vector<std::byte> block(kBlockBytes);
  TUTTI_TRY(conduit.read_exactly(block, deadline));
  const Time begin = os::now();
  std::uint64_t bytes = 0;
  while (block[0] == kMore) {
    TUTTI_TRY(conduit.read_exactly(block, deadline));
    bytes += block.size();
  }
  return static_cast<double>(bytes) / std::max(seconds_between(begin, os::now()), 1e-9);
}

}  // namespace

Result<PairNumbers> measure_pair(rpc::Conduit& conduit, const PairEffort& effort, Deadline deadline) {
  TUTTI_TRY(write_number(conduit, effort.bandwidth_time.count(), deadline));
  TUTTI_ASSIGN(const Pings pings, ping(conduit, effort, deadline));
  PairNumbers numbers{.latency_s = median_of(pings.round_trips_s) / 2, .clock_offset_s = clock_offset_s(pings.clocks)};
  TUTTI_TRY(send_stream(conduit, effort.bandwidth_time, deadline));
  TUTTI_ASSIGN(const std::int64_t there, read_number(conduit, deadline));
  numbers.there_bytes_per_s = std::bit_cast<double>(there);
  TUTTI_ASSIGN(numbers.back_bytes_per_s, receive_stream(conduit, deadline));
  return numbers;
}

Status answer_pair(rpc::Conduit& conduit, Deadline deadline) {
  TUTTI_ASSIGN(const std::int64_t time_ms, read_number(conduit, deadline));
  TUTTI_TRY(answer_pings(conduit, deadline));
  TUTTI_ASSIGN(const double rate, receive_stream(conduit, deadline));
  TUTTI_TRY(write_number(conduit, std::bit_cast<std::int64_t>(rate), deadline));
  return send_stream(conduit, std::chrono::milliseconds(std::clamp<std::int64_t>(time_ms, 0, kStreamMax.count())),
                     deadline);
}

std::chrono::milliseconds time_of(const PairEffort& effort) { return effort.ping_time + 2 * effort.bandwidth_time; }

}  // namespace tutti::tool::check
