#include "tutti/memory.h"

#include <exception>

#include "device/host/heap.h"

namespace tutti {

Memory::~Memory() {
  if (bytes_.empty()) return;
  // There is no heap where this is the copy of a Memory in a forked child: what it refers to is the parent's.
  device::Heap* const heap = device::Heap::existing();
  if (heap == nullptr) return;
  try {
    heap->free(bytes_);
  } catch (const std::exception&) {
    // There is no memory to note that the piece is free: it stays taken.
    return;
  }
}

Result<Memory> allocate(std::size_t bytes) {
  TUTTI_ASSIGN(device::Heap * heap, device::Heap::of_process());
  TUTTI_ASSIGN(const std::span<std::byte> piece, heap->allocate(bytes));
  return Memory(piece);
}

}  // namespace tutti
