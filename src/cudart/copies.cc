#include "cudart/copies.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <vector>

#include "cudart/call.h"
#include "cudart/queue.h"
#include "cudart/range.h"

namespace tutti::cudart {
namespace {

// Pageable sources up to here are put aside where the stream is busy, so that the caller need not wait for it.
constexpr std::size_t kStagedBytesMax = std::size_t{1} << 20;

struct Sides {
  Side target = Side::any;
  Side source = Side::any;
};

Outcome sides_of(cudaMemcpyKind kind, Sides& sides) {
  switch (kind) {
    case cudaMemcpyHostToHost: sides = {Side::host, Side::host}; return {};
    case cudaMemcpyHostToDevice: sides = {Side::device, Side::host}; return {};
    case cudaMemcpyDeviceToHost: sides = {Side::host, Side::device}; return {};
    case cudaMemcpyDeviceToDevice: sides = {Side::device, Side::device}; return {};
    case cudaMemcpyDefault: sides = {}; return {};
  }
  return {cudaErrorInvalidMemcpyDirection, fmt::format("{} is no kind of copy", static_cast<int>(kind))};
}

void run(const Copy& what) {
  auto* target = static_cast<std::byte*>(what.target);
  const auto* source = static_cast<const std::byte*>(what.source);
  for (std::size_t row = 0; row < what.height; ++row)
    std::memmove(target + row * what.target_pitch, source + row * what.source_pitch, what.width);
}

void run(const Fill& what) {
  auto* target = static_cast<std::byte*>(what.target);
  for (std::size_t row = 0; row < what.height; ++row) std::memset(target + row * what.pitch, what.value, what.width);
}

struct Ranges {
  Range target;
  Range source;
};

Outcome check(const Copy& what, Sides sides, Ranges& ranges) {
  std::size_t target_bytes = 0;
  std::size_t source_bytes = 0;
  TUTTI_CUDART_TRY(extent_of({what.width, what.height, what.target_pitch}, target_bytes));
  TUTTI_CUDART_TRY(extent_of({what.width, what.height, what.source_pitch}, source_bytes));
  TUTTI_CUDART_TRY(check_range(what.target, target_bytes, sides.target, ranges.target));
  return check_range(what.source, source_bytes, sides.source, ranges.source);
}

// The source as it is now, for a stream that comes to it later.
Outcome enqueue_staged(const StreamPointer& stream, const Copy& what) {
  const auto staged = std::make_shared<std::vector<std::byte>>(what.width * what.height);
  Copy later = what;
  later.source = staged->data();
  later.source_pitch = what.width;
  run({staged->data(), what.width, what.source, what.source_pitch, what.width, what.height});
  return enqueue_function(stream, [later, staged] { run(later); });
}

// Async for the host only where it cannot see the difference: CUDA too reads pageable memory before it returns.
Outcome enqueue_in_order(const StreamPointer& stream, const Copy& what, const Ranges& ranges) {
  const bool is_captured = stream->recording() != nullptr;
  const bool is_pageable = ranges.source.is_pageable || ranges.target.is_pageable;
  // Of the default stream it is not known: it waits for others.
  const bool is_busy = !stream->is_idle() || stream->kind() == device::HostStream::Kind::legacy;
  const bool is_small = what.width <= kStagedBytesMax / what.height;
  if (!is_captured && !ranges.target.is_pageable && ranges.source.is_pageable && is_busy && is_small)
    return enqueue_staged(stream, what);
  TUTTI_CUDART_TRY(enqueue_function(stream, [what] { run(what); }));
  return is_captured || !is_pageable ? Outcome() : synchronize(stream);
}

Outcome enqueue_copy(const Copy& what, const Ranges& ranges, cudaStream_t handle, When when) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (when == When::now) TUTTI_CUDART_TRY(check_not_captured(stream));
  if (what.width == 0 || what.height == 0) return {};
  if (when == When::in_order) return enqueue_in_order(stream, what, ranges);
  TUTTI_CUDART_TRY(enqueue_function(stream, [what] { run(what); }));
  // Between devices nothing is waited for, as in CUDA.
  return ranges.target.is_host || ranges.source.is_host ? synchronize(stream) : Outcome();
}

Outcome check_belongs(const Range& range, int device) {
  TUTTI_CUDART_TRY(check_device(device));
  if (range.device < 0 || range.device == device) return {};
  return invalid_value(fmt::format("the memory is of device {}, not of {}", range.device, device));
}

}  // namespace

Outcome copy(const Copy& what, cudaMemcpyKind kind, cudaStream_t stream, When when) {
  Sides sides;
  Ranges ranges;
  TUTTI_CUDART_TRY(sides_of(kind, sides));
  TUTTI_CUDART_TRY(check(what, sides, ranges));
  return enqueue_copy(what, ranges, stream, when);
}

Outcome copy_between(const Copy& what, Peer peer, cudaStream_t stream, When when) {
  Ranges ranges;
  TUTTI_CUDART_TRY(check(what, {Side::device, Side::device}, ranges));
  TUTTI_CUDART_TRY(check_belongs(ranges.target, peer.target_device));
  TUTTI_CUDART_TRY(check_belongs(ranges.source, peer.source_device));
  return enqueue_copy(what, ranges, stream, when);
}

Outcome fill(const Fill& what, cudaStream_t handle, When when) {
  Range range;
  std::size_t bytes = 0;
  StreamPointer stream;
  TUTTI_CUDART_TRY(extent_of({what.width, what.height, what.pitch}, bytes));
  TUTTI_CUDART_TRY(check_range(what.target, bytes, Side::device, range));
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (when == When::now) TUTTI_CUDART_TRY(check_not_captured(stream));
  if (bytes == 0) return {};
  TUTTI_CUDART_TRY(enqueue_function(stream, [what] { run(what); }));
  return when == When::now && range.is_host ? synchronize(stream) : Outcome();
}

}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return call(
      __func__,
      [&] {
        return copy({dst, count, src, count, count}, kind, nullptr, When::now);
      },
      dst, src, count, kind);
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return call(
      __func__,
      [&] {
        return copy({dst, count, src, count, count}, kind, stream, When::in_order);
      },
      dst, src, count, kind, stream);
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return call(
      __func__,
      [&] {
        return copy({dst, dpitch, src, spitch, width, height}, kind, nullptr, When::now);
      },
      dst, dpitch, src, spitch, width, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call(
      __func__,
      [&] {
        return copy({dst, dpitch, src, spitch, width, height}, kind, stream, When::in_order);
      },
      dst, dpitch, src, spitch, width, height, kind, stream);
}

cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t count) {
  return call(
      __func__,
      [&] {
        return copy_between({dst, count, src, count, count}, {dst_device, src_device}, nullptr, When::now);
      },
      dst, dst_device, src, src_device, count);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t count,
                                cudaStream_t stream) {
  return call(
      __func__,
      [&] {
        return copy_between({dst, count, src, count, count}, {dst_device, src_device}, stream, When::in_order);
      },
      dst, dst_device, src, src_device, count, stream);
}

cudaError_t cudaMemset(void* data, int value, size_t count) {
  return call(
      __func__,
      [&] {
        return fill({data, count, value, count}, nullptr, When::now);
      },
      data, value, count);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t count, cudaStream_t stream) {
  return call(
      __func__,
      [&] {
        return fill({data, count, value, count}, stream, When::in_order);
      },
      data, value, count, stream);
}

cudaError_t cudaMemset2D(void* data, size_t pitch, int value, size_t width, size_t height) {
  return call(
      __func__,
      [&] {
        return fill({data, pitch, value, width, height}, nullptr, When::now);
      },
      data, pitch, value, width, height);
}

cudaError_t cudaMemset2DAsync(void* data, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return call(
      __func__,
      [&] {
        return fill({data, pitch, value, width, height}, stream, When::in_order);
      },
      data, pitch, value, width, height, stream);
}

}  // extern "C"
