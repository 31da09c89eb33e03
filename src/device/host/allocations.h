// Which memory a program got for which device: pieces of the shared heap, and memory of its own that it registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tutti/status.h"

namespace tutti::device {

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered };

struct Allocation {
  std::span<std::byte> bytes = {};  // as the program asked for
  MemoryKind kind = MemoryKind::device;
  int device = 0;  // the one it belongs to, or that was current
  unsigned flags = 0;
  std::span<std::byte> piece = {};  // of the heap; empty: not ours
};

// A mutex because memory is allocated and looked up from any thread.
class Allocations {
 public:
  static constexpr std::size_t kAlignment = 256;  // which programs for CUDA count on

  // Made at the first use; stays until the process ends.
  static Allocations& of_process();

  // From the shared heap, zero, aligned to kAlignment.
  Result<std::span<std::byte>> allocate(std::size_t bytes, MemoryKind kind, int device, unsigned flags = 0);
  // False: some of it is known already.
  bool add_registered(std::span<std::byte> bytes, int device, unsigned flags);

  // The one in which that byte lies.
  std::optional<Allocation> find(const void* data) const;
  // No longer known from here on; its memory stays until give_back(). nullopt: no allocation begins there.
  std::optional<Allocation> take(const void* data);
  // All device memory of a device.
  std::vector<Allocation> take_all(int device);
  static void give_back(const Allocation& allocation);

 private:
  Allocations() = default;
  std::optional<Allocation> find_locked(std::uintptr_t address) const;

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> by_address_;  // of the first byte
};

}  // namespace tutti::device
