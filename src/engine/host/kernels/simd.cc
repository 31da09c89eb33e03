#include "engine/host/kernels/simd.h"

#if __has_include(<hwy/highway.h>)

// SSSE3 without SSE4 is a machine of 2006, for which the portable kernels will do. SVE gains nothing over NEON where
// memory sets the pace. (Highway 1.0.3 packs bytes wrongly for AVX3_DL, which is off unless it is asked for.)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_AVX3_DL)

#include <hwy/cache_control.h>
#include <hwy/targets.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/host/kernels/codec.h"
#include "engine/host/kernels/portable.h"

namespace tutti::engine {

namespace {

// What simd.inl defines for each instruction set that is compiled.
template <std::int64_t kTarget>
struct TargetKernels;

// Whether a sum is more than a sum. Factors of 1 are none: they would make a signaling NaN quiet.
bool is_adjusted(const Operands& operands) {
  if (operands.divide_by != 1) return true;
  if (operands.factors == nullptr) return false;
  return std::any_of(operands.factors, operands.factors + operands.sources.size(), [](double f) { return f != 1; });
}

}  // namespace

}  // namespace tutti::engine

// Includes simd.inl for every instruction set but the last, which follows.
#define HWY_TARGET_INCLUDE "engine/host/kernels/simd.inl"
#include <hwy/foreach_target.h>

#include "engine/host/kernels/simd.inl"

namespace tutti::engine {

namespace {

template <std::int64_t kTarget>
void append(std::int64_t supported, std::vector<KernelSet>& found) {
  // Highway's own emulation of vectors is no faster than the portable kernels.
  constexpr bool kIsReal = kTarget != HWY_SCALAR && kTarget != HWY_EMU128;
  if constexpr (((HWY_TARGETS)&kTarget) != 0 && kIsReal) {
    if ((supported & kTarget) != 0) found.push_back(TargetKernels<kTarget>::create());
  }
}

}  // namespace

// Highway numbers targets from the best.
std::vector<KernelSet> find_simd_kernels() {
  std::vector<KernelSet> found;
  const std::int64_t supported = hwy::SupportedTargets();
  [&]<int... kBits>(std::integer_sequence<int, kBits...>) { (append<std::int64_t{1} << kBits>(supported, found), ...); }
  (std::make_integer_sequence<int, 63>());
  return found;
}

}  // namespace tutti::engine

#else

namespace tutti::engine {

std::vector<KernelSet> find_simd_kernels() { return {}; }

}  // namespace tutti::engine

#endif
