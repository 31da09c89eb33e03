#include "comm/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/relax.h"
#include "os/remote_memory.h"
#include "planner/hosts.h"

namespace tutti::comm {

namespace {

constexpr std::size_t kSampleBytes = 512 << 10;  // larger than a first cache, smaller than what slows the start
constexpr int kSamples = 3;
constexpr int kYields = 50;

// The best of a few: disturbances only make it slower.
template <class Work>
double fastest_s(Work work) {
  double fastest = 1;
  for (int i = 0; i < kSamples; ++i) {
    const Time start = os::now();
    work();
    fastest = std::min(fastest, static_cast<double>(os::now().ns - start.ns) * 1e-9);
  }
  return std::max(fastest, 1e-9);
}

}  // namespace

LocalRates measure_rates() {
  std::vector<std::byte> from(kSampleBytes, std::byte{1});
  std::vector<std::byte> to(kSampleBytes, std::byte{2});
  const double copy_s = fastest_s([&] { std::memcpy(to.data(), from.data(), kSampleBytes); });
  LocalRates rates;
  rates.load_bytes_per_s = rates.store_bytes_per_s = 2 * static_cast<double>(kSampleBytes) / copy_s;
  bool can_pull = true;
  const double pull_s = fastest_s(
      [&] { can_pull = os::read_memory(getpid(), to.data(), from.data(), kSampleBytes).is_ok() && can_pull; });
  rates.pull_bytes_per_s = can_pull ? static_cast<double>(kSampleBytes) / pull_s : 0;
  const double yields_s = fastest_s([] {
    for (int i = 0; i < kYields; ++i) os::yield_core();
  });
  // With somebody else to run, a yield takes about three times as long.
  rates.switch_s = std::clamp(3 * yields_s / kYields, 0.3e-6, 5e-6);
  rates.cores = os::this_machine().usable_cores;
  return rates;
}

bool NetworkRates::is_sane() const {
  const auto is_time = [](double seconds) { return seconds >= 0 && seconds < 1e3; };
  return is_time(latency_s) && is_time(message_s) && bytes_per_s >= 0 && bytes_per_s < 1e15;
}

std::string NetworkRates::text() const {
  if (is_known()) {
    return fmt::format("{} one way, {}, {} of a core per message", text::seconds_text(latency_s),
                       text::rate_text(bytes_per_s), text::seconds_text(message_s));
  }
  const planner::Cluster assumed;
  return fmt::format("not measured; {} one way and {} are assumed", text::seconds_text(assumed.network_latency_s),
                     text::rate_text(assumed.network_bytes_per_s));
}

planner::LocalMachine with_rates(const LocalRates& rates) {
  planner::LocalMachine machine;
  machine.cores = std::max(rates.cores, 1);
  if (rates.load_bytes_per_s > 0) machine.load_bytes_per_s = rates.load_bytes_per_s;
  if (rates.store_bytes_per_s > 0) machine.store_bytes_per_s = rates.store_bytes_per_s;
  if (rates.pull_bytes_per_s > 0) machine.pull_bytes_per_s = rates.pull_bytes_per_s;
  if (rates.switch_s > 0) machine.switch_s = rates.switch_s;
  return machine;
}

}  // namespace tutti::comm
