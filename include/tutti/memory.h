// Memory that other processes of this machine can reach: collectives on it copy nothing that they need not.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "tutti/status.h"

namespace tutti {

// An owned piece of the process's shared heap (an anonymous memfd that the processes of a communicator map). Freed when
// it is destroyed; no communicator may be using it then. Aligned to 64 bytes, to pages from 4 KiB up. Zero at first.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory();

  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  std::span<std::byte> bytes() const { return bytes_; }
  // As many T as fit.
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  friend Result<Memory> allocate(std::size_t bytes);
  explicit Memory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

// out_of_memory when the heap's limit (the machine's memory) is reached or the machine has no memfd.
Result<Memory> allocate(std::size_t bytes);

}  // namespace tutti
