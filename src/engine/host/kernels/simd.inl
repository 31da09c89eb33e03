// The kernels for one instruction set; included once for each by simd.cc, so it has no guard.

#include <hwy/highway.h>

#include "engine/host/kernels/simd_lanes.inl"
#include "engine/host/kernels/simd_loops.inl"

HWY_BEFORE_NAMESPACE();
namespace tutti::engine {
namespace HWY_NAMESPACE {

template <class Lanes>
HWY_INLINE bool is_less_than_a_vector(const Operands& operands) {
  return operands.elements < hn::Lanes(hn::ScalableTag<typename Lanes::Wide>());
}

// This and kernel_of_target are templates so that they are compiled only for the targets that are used.
template <std::int64_t kTarget>
void copy_of_target(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming) {
  using Lanes = PlainLanes<std::uint8_t>;
  const Operands operands{{&source, 1}, targets, bytes, nullptr, 1, streaming};
  if (is_less_than_a_vector<Lanes>(operands)) return portable_copy(source, targets, bytes, streaming);
  run(Fixed<Lanes, Add, 1>(operands), operands);
}

// What is rare, for which more code is not worth its size: few elements are done one by one, and none is streamed.
template <DataType kType, class Lanes, class Operation>
void reduce(const Operands& operands) {
  if (is_less_than_a_vector<Lanes>(operands)) return portable_kernel_of(kType, Operation::kOp)(operands);
  run_vectors(Any<Lanes, Operation>(operands), operands);
}

// There are no vector instructions that divide integers.
template <DataType kType, class Lanes>
HWY_NOINLINE void reduce_adjusted(const Operands& operands) {
  if constexpr (hwy::IsFloat<typename Lanes::Wide>()) {
    if (!is_less_than_a_vector<Lanes>(operands)) return run(Adjusted<Lanes>(operands), operands);
  }
  portable_kernel_of(kType, Op::sum)(operands);
}

template <class Lanes>
HWY_NOINLINE void sum_few(const Operands& operands) {
  if (operands.elements == 0) return;
  run_few(hn::Half<hn::ScalableTag<typename Lanes::Wide>>(), Any<Lanes, Add>(operands), operands);
}

// Shared by integers with and without a sign.
template <class Lanes>
HWY_NOINLINE void sum_unadjusted(const Operands& operands) {
  if (is_less_than_a_vector<Lanes>(operands)) return sum_few<Lanes>(operands);
  run(Any<Lanes, Add>(operands), operands);
}

template <DataType kType, class Lanes>
void sum(const Operands& operands) {
  if (is_adjusted(operands)) return reduce_adjusted<kType, Lanes>(operands);
  if constexpr (sizeof(typename Lanes::Bits) == 1) {
    reduce<kType, Lanes, Add>(operands);
  } else {
    sum_unadjusted<typename Lanes::Unsigned>(operands);
  }
}

// For the type that matters most: numbers of sources that are frequent are known to the compiler.
template <DataType kType, class Lanes>
void sum_of_counts(const Operands& operands) {
  if (is_adjusted(operands)) return reduce_adjusted<kType, Lanes>(operands);
  if (is_less_than_a_vector<Lanes>(operands)) return sum_few<Lanes>(operands);
  switch (operands.sources.size()) {
    case 2: return run(Fixed<Lanes, Add, 2>(operands), operands);
    case 3: return run(Fixed<Lanes, Add, 3>(operands), operands);
    case 4: return run(Fixed<Lanes, Add, 4>(operands), operands);
    case 8: return run(Fixed<Lanes, Add, 8>(operands), operands);
    default: return run(Any<Lanes, Add>(operands), operands);
  }
}

template <DataType kType, class Lanes>
Kernel kernel_for(Op op) {
  using Wide = typename Lanes::Wide;
  switch (op) {
    case Op::sum:
    case Op::average:
    case Op::scaled_sum:
      if constexpr (kType == DataType::float32) {
        return sum_of_counts<kType, Lanes>;
      } else {
        return sum<kType, Lanes>;
      }
    case Op::product:
      // Highway multiplies no bytes, and 64-bit integers not everywhere.
      if constexpr (hwy::IsFloat<Wide>() || sizeof(Wide) == 4) {
        return reduce<kType, Lanes, Multiply>;
      } else {
        return portable_kernel_of(kType, op);
      }
    case Op::min: return reduce<kType, Lanes, Smaller>;
    case Op::max: return reduce<kType, Lanes, Larger>;
  }
  return nullptr;
}

template <std::int64_t kTarget>
Kernel kernel_of_target(DataType type, Op op) {
  switch (type) {
    case DataType::int8: return kernel_for<DataType::int8, PlainLanes<std::int8_t>>(op);
    case DataType::uint8: return kernel_for<DataType::uint8, PlainLanes<std::uint8_t>>(op);
    case DataType::int32: return kernel_for<DataType::int32, PlainLanes<std::int32_t>>(op);
    case DataType::uint32: return kernel_for<DataType::uint32, PlainLanes<std::uint32_t>>(op);
    case DataType::int64: return kernel_for<DataType::int64, PlainLanes<std::int64_t>>(op);
    case DataType::uint64: return kernel_for<DataType::uint64, PlainLanes<std::uint64_t>>(op);
    case DataType::float16: return kernel_for<DataType::float16, Float16Lanes>(op);
    case DataType::float32: return kernel_for<DataType::float32, PlainLanes<float>>(op);
    case DataType::float64: return kernel_for<DataType::float64, PlainLanes<double>>(op);
    case DataType::bfloat16: return kernel_for<DataType::bfloat16, NarrowLanes<Bfloat16Format>>(op);
    case DataType::float8e4m3: return kernel_for<DataType::float8e4m3, NarrowLanes<Float8e4m3Format>>(op);
    case DataType::float8e5m2: return kernel_for<DataType::float8e5m2, NarrowLanes<Float8e5m2Format>>(op);
  }
  return nullptr;
}

// The last vector overlaps the one before it: places do not overlap, so converting an element twice does no harm.
template <DataType kType, class Lanes>
void narrow(const std::byte* from, std::byte* to, std::size_t elements) {
  using D = hn::ScalableTag<float>;
  const D d;
  const std::size_t step = hn::Lanes(d);
  if (elements < step) return portable_conversion_of(kType).narrow(from, to, elements);
  const auto convert = [&](std::size_t at) HWY_ATTR {
    const typename Lanes::template One<D> encoded(d, load_bytes(d, from + at * sizeof(float)));
    encoded.store(d, to + at * sizeof(typename Lanes::Bits));
  };
  for (std::size_t at = 0; at + step <= elements; at += step) convert(at);
  convert(elements - step);
}

template <DataType kType, class Lanes>
void widen(const std::byte* from, std::byte* to, std::size_t elements) {
  const hn::ScalableTag<float> d;
  const std::size_t step = hn::Lanes(d);
  if (elements < step) return portable_conversion_of(kType).widen(from, to, elements);
  const auto convert = [&](std::size_t at) HWY_ATTR {
    store_bytes<false>(d, Lanes::load(d, from + at * sizeof(typename Lanes::Bits)), to + at * sizeof(float));
  };
  for (std::size_t at = 0; at + step <= elements; at += step) convert(at);
  convert(elements - step);
}

template <std::int64_t kTarget>
Conversion conversion_of_target(DataType type) {
  using Bfloat16Lanes = NarrowLanes<Bfloat16Format>;
  constexpr DataType kHalf = DataType::float16;
  constexpr DataType kBrain = DataType::bfloat16;
  if (type == kHalf) return {narrow<kHalf, Float16Lanes>, widen<kHalf, Float16Lanes>};
  if (type == kBrain) return {narrow<kBrain, Bfloat16Lanes>, widen<kBrain, Bfloat16Lanes>};
  return {};
}

}  // namespace HWY_NAMESPACE

namespace {

template <>
struct TargetKernels<HWY_TARGET> {
  template <std::int64_t kTarget = HWY_TARGET>
  static KernelSet create() {
    return {hwy::TargetName(HWY_TARGET), HWY_NAMESPACE::kernel_of_target<kTarget>,
            HWY_NAMESPACE::copy_of_target<kTarget>, HWY_NAMESPACE::conversion_of_target<kTarget>};
  }
};

}  // namespace

}  // namespace tutti::engine
HWY_AFTER_NAMESPACE();
