// The shared heap of this process: one sparse memfd that its peers map whole, so that a place in it is an offset.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "device/host/free_list.h"
#include "os/segment.h"
#include "tutti/status.h"

namespace tutti::device {

// The process holds a record lock (fcntl F_SETLK) on byte 0 of the memfd for as long as it lives; peers ask with
// F_GETLK whether it does. The kernel drops such a lock when the process closes *any* descriptor of the file. So there
// is exactly one in the process, fd(), it stays open, and nobody may dup() and close it. Sending it to another process
// is fine.
class Heap {
 public:
  // Creates it at the first call; it stays until the process ends. A process that was forked from one with a heap gets
  // an error: the memory still belongs to its parent.
  static Result<Heap*> of_process();
  // The heap where there is one; never creates it. nullptr in a forked child.
  static Heap* existing() { return existing_.load(std::memory_order_acquire); }

  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  int fd() const { return segment_.fd(); }
  std::byte* base() const { return segment_.data(); }
  std::size_t limit_bytes() const { return segment_.size(); }

  // Zero; aligned to 64 bytes, to pages from 4 KiB up and to 2 MiB from there up. No bytes give an empty span.
  Result<std::span<std::byte>> allocate(std::size_t bytes);
  // What allocate() returned. The pages of pieces from 64 KiB up go back to the kernel. Nothing in a forked child.
  void free(std::span<std::byte> piece);
  std::size_t used_bytes() const;

  // Where these bytes lie in the heap; nullopt when not all of them do.
  std::optional<std::uint64_t> offset_of(const void* data, std::size_t bytes) const {
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(base());
    if (offset >= limit_bytes() || bytes > limit_bytes() - offset) return std::nullopt;
    return offset;
  }

 private:
  explicit Heap(os::Segment segment) : segment_(std::move(segment)), free_(segment_.size()) {}
  static Result<Heap*> create();
  static int watch_forks();

  static std::atomic<Heap*> existing_;

  const os::Segment segment_;
  mutable std::mutex mutex_;
  FreeList free_;  // what is free is zero
};

}  // namespace tutti::device
