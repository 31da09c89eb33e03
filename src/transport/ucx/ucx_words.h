// What the two ends of a UCX wire tell each other beside frames: over their connection, and in front of every message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "transport/ucx/ucx_worker.h"

namespace tutti::transport {

// After the ticket: what a message is.
enum class UcxKind : std::uint32_t {
  frames = 1,         // data: frames, one after the other
  value,              // then the header of a part of a value and the sizes of its chunks; data: the part
  value_after_sizes,  // then the header; data: the sizes, which are too many for a header, and the part
};
inline constexpr std::size_t kUcxKindBytes = sizeof(UcxKind);
inline constexpr std::size_t kUcxHeadBytes = sizeof(UcxTicket) + kUcxKindBytes;

// The first word over the connection, with the address of the worker behind it.
struct UcxGreeting {
  static constexpr std::uint32_t kMagic = 0x31786375;  // "ucx1"; another version has another one
  static constexpr std::uint32_t kAddressBytesMax = 64 << 10;

  std::uint32_t magic = kMagic;
  std::uint32_t address_bytes = 0;
  UcxTicket ticket;
};
static_assert(sizeof(UcxGreeting) == 24);

// The last word.
struct UcxGoodbye {
  static constexpr std::uint64_t kMagic = 0x657962786375;  // "ucxbye"

  std::uint64_t magic = kMagic;
  std::uint64_t messages = 0;  // that were sent in all
};
static_assert(sizeof(UcxGoodbye) == 16);

template <class Word>
std::span<const std::byte> word_bytes(const Word& word) {
  return std::as_bytes(std::span(&word, 1));
}
// Its bytes are there.
template <class Word>
Word word_of(std::span<const std::byte> bytes) {
  Word word;
  std::memcpy(&word, bytes.data(), sizeof(word));
  return word;
}

}  // namespace tutti::transport
