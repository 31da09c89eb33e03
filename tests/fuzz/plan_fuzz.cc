// Whatever bytes come as a plan: parsing, printing and checking neither crash nor hang, and the text form
// round-trips.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tutti/check.h"
#include "tutti/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::plan;
  const auto plan = parse({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const auto again = parse(print(*plan));
  if (!again || print(*again) != print(*plan)) std::abort();
  constexpr tutti::Rank kRanksMax = 64;  // larger plans are only slower
  constexpr std::uint32_t kChunksMax = 1024;
  if (plan->ranks <= kRanksMax && plan->chunks <= kChunksMax)
    static_cast<void>(check(*plan, {.in_place = size % 2 == 0}));
  return 0;
}
