// The arithmetic of a step, fast: all sources combined and stored to all targets in one pass over memory.
//
// The bits are those of base/arithmetic.h, whatever instructions the machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/types.h"

namespace tutti::engine {

// One value of a step. A target may be a source, exactly; they never overlap in part.
struct Operands {
  std::span<const std::byte* const> sources;  // at least one, combined in this order; any alignment
  std::span<std::byte* const> targets;        // at least one; any alignment
  std::uint64_t elements = 0;
  const double* factors = nullptr;  // per source: what its elements are multiplied by on load; only where an op adds
  Rank divide_by = 1;               // what the complete sum is divided by; only where an op adds
  bool streaming = false;           // the targets will not be read soon: store around the caches
};

using Kernel = void (*)(const Operands&);
// Sum, average and scaled sum are one kernel, which adds: what else they do stands in the operands.
Kernel kernel_of(DataType type, Op op);

// Sums of 8- and 16-bit floats may overflow where the average does not, so averages of these types multiply every input
// by average_factor and divide by nothing. All other types divide the complete sum.
bool is_narrow(DataType type);
inline double average_factor(Rank ranks) { return 1.0f / static_cast<float>(ranks); }

// A target that is the source is left alone.
void copy(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming);

// From float32 to a float of 16 bits, rounded to the nearest one and to even between two, and back. Any alignment; the
// places do not overlap.
struct Conversion {
  void (*narrow)(const std::byte* from, std::byte* to, std::size_t elements) = nullptr;
  void (*widen)(const std::byte* from, std::byte* to, std::size_t elements) = nullptr;
};
Conversion conversion_of(DataType type);  // float16 or bfloat16; of other types there is none

std::string_view instruction_set();  // of the kernels that kernel_of gives: "AVX3", "NEON", "portable"

// All that this machine can run, best first and "portable" last. They give the same bits; tests compare them.
struct KernelSet {
  std::string_view instruction_set;
  Kernel (*kernel_of)(DataType type, Op op);
  // No target is the source.
  void (*copy)(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming);
  Conversion (*conversion_of)(DataType type);
};
std::span<const KernelSet> kernel_sets();

}  // namespace tutti::engine
