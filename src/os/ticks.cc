#include "os/ticks.h"

#include "base/text.h"
#include "os/small_file.h"

namespace tutti::os {

namespace {

// The flags of the first core stand in the first lines of the file.
std::string_view flags_of(std::string_view cpuinfo) {
  const std::size_t begin = cpuinfo.find("\nflags");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = cpuinfo.find('\n', begin + 1);
  return cpuinfo.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1);
}

bool has_flag(std::string_view flags, std::string_view wanted) {
  for (const std::string_view flag : text::words(flags)) {
    if (flag == wanted) return true;
  }
  return false;
}

}  // namespace

bool has_all_flags(std::string_view cpuinfo, std::string_view flags) {
  const std::string_view present = flags_of(cpuinfo);
  for (const std::string_view wanted : text::words(flags)) {
    if (!has_flag(present, wanted)) return false;
  }
  return true;
}

TickSource tick_source() {
  static const TickSource source = has_all_flags(read_small_file("/proc/cpuinfo").value_or(""), kCounterNeeds)
                                       ? TickSource::counter
                                       : TickSource::clock;
  return source;
}

// The clock is read between two looks at the counter; the shortest of a few tries was not interrupted.
TickPoint tick_point(TickSource source) {
  constexpr int kTries = 5;
  TickPoint best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = ticks(source);
    const Time time = now();
    const std::uint64_t took = ticks(source) - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {.ticks = before + took / 2, .time = time};
  }
  return best;
}

Time time_of(std::uint64_t ticks, const TickPoint& first, const TickPoint& last) {
  if (last.ticks <= first.ticks || last.time < first.time) return last.time;
  const double rate = static_cast<double>(last.time.ns - first.time.ns) / static_cast<double>(last.ticks - first.ticks);
  const double ns_before_last = rate * static_cast<double>(static_cast<std::int64_t>(last.ticks - ticks));
  const double ns = static_cast<double>(last.time.ns) - ns_before_last;
  return {ns <= 0 ? 0 : last.time.ns - static_cast<std::uint64_t>(static_cast<std::int64_t>(ns_before_last))};
}

}  // namespace tutti::os
