// Any text as a traffic matrix: Traffic::parse() answers, and what it accepts is a square of whole blocks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/perf/traffic.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tutti::perf::Traffic;
  const auto traffic = Traffic::parse({reinterpret_cast<const char*>(data), size}, "matrix", 1.5);
  if (!traffic) {
    if (traffic.status().text().empty()) std::abort();
    return 0;
  }
  const int ranks = traffic->dimension();
  if (!traffic->is_fixed() || ranks < 1) std::abort();
  for (int source = 0; source < ranks; ++source) {
    for (int target = 0; target < ranks; ++target) {
      if (traffic->bytes(source, target, ranks, 0) % 16 != 0) std::abort();
      if (traffic->bytes(source, target, ranks, 0) > traffic->largest_bytes(ranks, 0)) std::abort();
    }
    if (ranks > 64) break;  // the largest is looked for anew each time
  }
  return 0;
}
