// When waiting ends: a moment on the machine's steady clock. There is no wait without one.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace tutti {

// Nanoseconds on the steady clock that os::now() reads; the same clock for every process of a machine.
struct Time {
  std::uint64_t ns = 0;
  auto operator<=>(const Time&) const = default;
};

struct Deadline {
  Time at;

  static constexpr Deadline never() { return {{std::numeric_limits<std::uint64_t>::max()}}; }
  static constexpr Deadline after(Time now, std::chrono::nanoseconds wait) {
    const auto ns = static_cast<std::uint64_t>(wait.count() < 0 ? 0 : wait.count());
    return ns > std::numeric_limits<std::uint64_t>::max() - now.ns ? never() : Deadline{{now.ns + ns}};
  }
  constexpr bool has_passed(Time now) const { return now >= at; }
};

}  // namespace tutti
