// The kernels for one instruction set; included once for each by simd.cc, so it has no guard.

#include <hwy/highway.h>

#include "engine/host/kernels/simd_lanes.inl"
#include "engine/host/kernels/simd_loops.inl"

HWY_BEFORE_NAMESPACE();
namespace tutti::engine {
namespace HWY_NAMESPACE {

void copy_vectors(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming) {
  if (bytes == 0) return;
  const Operands operands{{&source, 1}, targets, bytes, nullptr, 1, streaming};
  run(Fixed<PlainLanes<std::uint8_t>, Add, 1>(operands), operands);
}

template <class Lanes>
HWY_INLINE void run_adjusted(const Operands& operands) {
  if constexpr (hwy::IsFloat<typename Lanes::Wide>()) {
    run(Adjusted<Lanes>(operands), operands);
  } else {
    portable_sum<typename Lanes::Wide>(operands);
  }
}

template <class Lanes>
void reduce_sum(const Operands& operands) {
  if (operands.elements == 0) return;
  if (operands.factors != nullptr || operands.divide_by != 1) return run_adjusted<Lanes>(operands);
  if constexpr (std::is_same_v<Lanes, PlainLanes<float>>) {
    switch (operands.sources.size()) {
      case 2: return run(Fixed<Lanes, Add, 2>(operands), operands);
      case 3: return run(Fixed<Lanes, Add, 3>(operands), operands);
      case 4: return run(Fixed<Lanes, Add, 4>(operands), operands);
      case 8: return run(Fixed<Lanes, Add, 8>(operands), operands);
      default: break;
    }
  }
  run(Any<Lanes, Add>(operands), operands);
}

template <class Lanes, class Operation>
void reduce(const Operands& operands) {
  if (operands.elements != 0) run(Any<Lanes, Operation>(operands), operands);
}

template <class Lanes>
Kernel kernel_for(DataType type, Op op) {
  // Highway multiplies no bytes, and 64-bit integers not everywhere.
  constexpr bool kMultiplies = hwy::IsFloat<typename Lanes::Wide>() || sizeof(typename Lanes::Wide) == 4;
  switch (op) {
    case Op::sum:
    case Op::average:
    case Op::scaled_sum: return reduce_sum<Lanes>;
    case Op::product:
      if constexpr (kMultiplies) {
        return reduce<Lanes, Multiply>;
      } else {
        return portable_kernel_of(type, op);
      }
    case Op::min: return reduce<Lanes, Smaller>;
    case Op::max: return reduce<Lanes, Larger>;
  }
  return nullptr;
}

// A template, so that it is compiled only for the targets that are used.
template <std::int64_t kTarget>
Kernel kernel_of_target(DataType type, Op op) {
  switch (type) {
    case DataType::int8: return kernel_for<PlainLanes<std::int8_t>>(type, op);
    case DataType::uint8: return kernel_for<PlainLanes<std::uint8_t>>(type, op);
    case DataType::int32: return kernel_for<PlainLanes<std::int32_t>>(type, op);
    case DataType::uint32: return kernel_for<PlainLanes<std::uint32_t>>(type, op);
    case DataType::int64: return kernel_for<PlainLanes<std::int64_t>>(type, op);
    case DataType::uint64: return kernel_for<PlainLanes<std::uint64_t>>(type, op);
    case DataType::float16: return kernel_for<NarrowLanes<Float16Format>>(type, op);
    case DataType::float32: return kernel_for<PlainLanes<float>>(type, op);
    case DataType::float64: return kernel_for<PlainLanes<double>>(type, op);
    case DataType::bfloat16: return kernel_for<NarrowLanes<Bfloat16Format>>(type, op);
    case DataType::float8e4m3: return kernel_for<NarrowLanes<Float8e4m3Format>>(type, op);
    case DataType::float8e5m2: return kernel_for<NarrowLanes<Float8e5m2Format>>(type, op);
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE

namespace {

template <>
struct TargetKernels<HWY_TARGET> {
  template <std::int64_t kTarget = HWY_TARGET>
  static KernelSet create() {
    return {hwy::TargetName(HWY_TARGET), HWY_NAMESPACE::kernel_of_target<kTarget>, HWY_NAMESPACE::copy_vectors};
  }
};

}  // namespace

}  // namespace tutti::engine
HWY_AFTER_NAMESPACE();
