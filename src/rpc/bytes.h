// Numbers in a row of bytes, little-endian: what every message on the wire is made of.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tutti::rpc {

using Bytes = std::vector<std::byte>;

// `space` has at least sizeof(T) bytes.
template <std::integral T>
void store_number(std::span<std::byte> space, T value) {
  const auto bits = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  for (std::size_t index = 0; index < sizeof(T); ++index)
    space[index] = static_cast<std::byte>(bits >> (8 * index) & 0xff);
}

// `bytes` has at least sizeof(T) bytes.
template <std::integral T>
T load_number(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < sizeof(T); ++index)
    value |= std::to_integer<std::uint64_t>(bytes[index]) << (8 * index);
  return static_cast<T>(value);
}

inline void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

}  // namespace tutti::rpc
