#include "cudart/range.h"

#include <fmt/format.h>

#include <limits>

#include "device/host/allocations.h"
#include "device/host/heap.h"

namespace tutti::cudart {
namespace {

using device::Allocation;
using device::MemoryKind;

Outcome check_unknown(const void* data, std::size_t bytes, Side side, Range& range) {
  const device::Heap* const heap = device::Heap::existing();
  if (heap != nullptr && heap->offset_of(data, 1))
    return invalid_value(fmt::format("{} was freed, or lies beyond what was allocated", fmt::ptr(data)));
  if (side == Side::device)
    return invalid_value(fmt::format("{} is host memory where the call says that it is of a device", fmt::ptr(data)));
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(data))
    return invalid_value(fmt::format("{} bytes from {} run over the end of all memory", bytes, fmt::ptr(data)));
  range = {.is_pageable = true, .is_host = true, .device = -1};
  return {};
}

}  // namespace

Outcome check_range(const void* data, std::size_t bytes, Side side, Range& range) {
  range = {};
  if (bytes == 0) return {};
  if (data == nullptr) return invalid_value("the address is null");
  const auto found = device::Allocations::of_process().find(data);
  if (!found) return check_unknown(data, bytes, side, range);
  const auto before = static_cast<std::size_t>(static_cast<const std::byte*>(data) - found->bytes.data());
  if (bytes > found->bytes.size() - before)
    return invalid_value(fmt::format("{} bytes from {}: the allocation has {}, of which {} are left there", bytes,
                                     fmt::ptr(data), found->bytes.size(), found->bytes.size() - before));
  const bool is_device = found->kind == MemoryKind::device;
  if (is_device && side == Side::host)
    return invalid_value(fmt::format("{} is memory of device {} where the call says that it is of the host",
                                     fmt::ptr(data), found->device));
  range = {.is_pageable = false, .is_host = !is_device, .device = is_device ? found->device : -1};
  return {};
}

Outcome extent_of(const Rows& rows, std::size_t& bytes) {
  bytes = 0;
  if (rows.width == 0 || rows.height == 0) return {};
  if (rows.height > 1 && rows.width > rows.pitch)
    return {cudaErrorInvalidPitchValue,
            fmt::format("rows of {} bytes do not fit a pitch of {}", rows.width, rows.pitch)};
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  if (rows.height > 1 && rows.pitch > (kMost - rows.width) / (rows.height - 1))
    return invalid_value(fmt::format("{} rows with a pitch of {} bytes are too much", rows.height, rows.pitch));
  bytes = rows.pitch * (rows.height - 1) + rows.width;
  return {};
}

}  // namespace tutti::cudart
