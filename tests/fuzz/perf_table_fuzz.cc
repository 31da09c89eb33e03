// Any text as the log of a perf tool: parse_tables() answers, and what it accepts differs in nothing from itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/perf/judge/comparison.h"
#include "tools/perf/judge/nccl_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::perf;
  const auto runs = parse_tables({reinterpret_cast<const char*>(data), size});
  if (!runs) return 0;
  if (runs->empty()) std::abort();
  for (const Run& run : *runs) {
    if (run.rows.empty()) std::abort();
    const auto comparison = compare(run, run);
    if (!comparison) continue;  // no time is above zero
    if (comparison->is_regressed() || comparison->count(Verdict::faster) > 0) std::abort();
    if (text_of(*comparison).empty()) std::abort();
  }
  return 0;
}
