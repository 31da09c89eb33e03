// Whatever bytes come as the results of a perf tool: reading neither crashes nor hangs, and what was read is written so
// that it reads the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/perf/report/results_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::perf;
  const auto run = parse_run({reinterpret_cast<const char*>(data), size});
  if (!run) return 0;
  const std::string text = json_text(*run);
  const auto again = parse_run(text);
  if (!again || json_text(*again) != text) std::abort();  // not the runs: what is no number is not equal to itself
  return 0;
}
