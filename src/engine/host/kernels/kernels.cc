#include "engine/host/kernels/kernels.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/host/kernels/portable.h"
#include "engine/host/kernels/simd.h"

namespace tutti::engine {

std::span<const KernelSet> kernel_sets() {
  static const std::vector<KernelSet> sets = [] {
    std::vector<KernelSet> found = find_simd_kernels();
    found.push_back({"portable", portable_kernel_of, portable_copy, portable_conversion_of});
    return found;
  }();
  return sets;
}

Kernel kernel_of(DataType type, Op op) { return kernel_sets().front().kernel_of(type, op); }

Conversion conversion_of(DataType type) { return kernel_sets().front().conversion_of(type); }

std::string_view instruction_set() { return kernel_sets().front().instruction_set; }

bool is_narrow(DataType type) {
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::float8e4m3:
    case DataType::float8e5m2: return true;
    case DataType::int8:
    case DataType::uint8:
    case DataType::int32:
    case DataType::uint32:
    case DataType::int64:
    case DataType::uint64:
    case DataType::float32:
    case DataType::float64: return false;
  }
  return false;
}

void copy(const std::byte* source, std::span<std::byte* const> targets, std::size_t bytes, bool streaming) {
  const auto self = std::find(targets.begin(), targets.end(), source);
  if (self != targets.end()) {
    const auto position = static_cast<std::size_t>(self - targets.begin());
    copy(source, targets.first(position), bytes, streaming);
    copy(source, targets.subspan(position + 1), bytes, streaming);
    return;
  }
  if (bytes == 0 || targets.empty()) return;
  if (targets.size() == 1 && !streaming) {
    std::memcpy(targets[0], source, bytes);
    return;
  }
  kernel_sets().front().copy(source, targets, bytes, streaming);
}

}  // namespace tutti::engine
