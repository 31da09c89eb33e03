// A clock for hot paths: the counter of the core where it is steady, the machine's clock elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/deadline.h"
#include "os/clock.h"

namespace tutti::os {

// What ticks count. Those of one source are the same for all processes of a machine.
enum class TickSource : std::uint32_t {
  clock,    // nanoseconds of now()
  counter,  // whatever the core counts, at a rate that does not change
};

// The headers are those that Linux has for one architecture only.
#if __has_include(<asm/ldt.h>)  // x86
inline constexpr std::string_view kCounterNeeds = "constant_tsc nonstop_tsc";
inline std::uint64_t read_counter() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}
#elif __has_include(<asm/sve_context.h>)  // AArch64, where the counter is steady by definition
inline constexpr std::string_view kCounterNeeds = "";
inline std::uint64_t read_counter() {
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
#else
inline constexpr std::string_view kCounterNeeds = "a counter that this architecture does not have";
inline std::uint64_t read_counter() { return now().ns; }
#endif

// The best that this machine has.
TickSource tick_source();
// Whether a core is what the counter needs, from the text of /proc/cpuinfo.
bool has_all_flags(std::string_view cpuinfo, std::string_view flags);

// Not ordered with what stands around it: off by what the core does out of order, some ten nanoseconds.
inline std::uint64_t ticks(TickSource source) { return source == TickSource::counter ? read_counter() : now().ns; }

// One moment on both clocks.
struct TickPoint {
  std::uint64_t ticks = 0;
  Time time;
};
TickPoint tick_point(TickSource source);

// When a tick was, given two moments: best between them.
Time time_of(std::uint64_t ticks, const TickPoint& first, const TickPoint& last);

}  // namespace tutti::os
