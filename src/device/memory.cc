#include "tutti/memory.h"

#include "device/host/heap.h"

namespace tutti {

Memory::~Memory() {
  if (bytes_.empty()) return;
  // There is no heap where this is the copy of a Memory in a forked child: what it refers to is the parent's.
  const auto heap = device::Heap::existing() == nullptr ? nullptr : *device::Heap::of_process();
  if (heap != nullptr) heap->free(bytes_);
}

Result<Memory> allocate(std::size_t bytes) {
  TUTTI_ASSIGN(device::Heap * heap, device::Heap::of_process());
  TUTTI_ASSIGN(const std::span<std::byte> piece, heap->allocate(bytes));
  return Memory(piece);
}

}  // namespace tutti
