// What a buffer of a rank holds, byte by byte: before a call, and after it if all is well. Written to devices and
// compared with what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/perf/pattern.h"
#include "tutti/status.h"

namespace tutti::perf {

// Before and after every buffer: bytes that nobody may write to.
inline constexpr std::size_t kGuardBytes = 4096;

class Image {
 public:
  // Of guards around so many bytes, which are poisoned. They begin `begin` bytes into the memory, guard included.
  Image(const Pattern& pattern, std::uint64_t seed, std::uint64_t begin, std::uint64_t bytes);

  // Lies over what was added before. Offsets and counts in elements of the pattern, from where the buffer begins.
  void add(std::uint64_t at, std::uint64_t count, int source, std::uint64_t first);

  // What the bytes from `first` on hold; `first` counts from the guard.
  void render(std::span<std::byte> target, std::uint64_t first) const;
  std::uint64_t bytes() const { return bytes_ + 2 * kGuardBytes; }
  std::uint64_t begin() const { return begin_; }

  struct Difference {
    std::int64_t wrong = 0;    // elements of the buffer
    std::int64_t outside = 0;  // bytes of the guards
    std::string first;         // a sentence about the first of them
  };
  // Adds what differs in bytes that begin at `first`.
  void compare(std::span<const std::byte> found, std::uint64_t first, Difference& difference) const;

 private:
  struct Layer {
    std::uint64_t begin;  // bytes, from the guard
    std::uint64_t end;
    int source;
    std::uint64_t first;
  };
  void compare_elements(std::span<const std::byte> found, std::span<const std::byte> expected, std::uint64_t first,
                        Difference& difference) const;
  void compare_guard(std::span<const std::byte> found, std::uint64_t first, Difference& difference) const;

  const Pattern& pattern_;
  std::uint64_t seed_;
  std::uint64_t begin_;
  std::uint64_t bytes_;
  std::vector<Layer> layers_;
};

// In parts, so that the host needs little memory however large they are.
Status upload(const Image& image, std::byte* memory);
Result<Image::Difference> compare(const Image& image, const std::byte* memory);

}  // namespace tutti::perf
