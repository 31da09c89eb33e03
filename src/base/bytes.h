// Numbers and byte strings in a row of bytes, little-endian: what files, requests and messages are made of.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti {

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

template <std::integral T>
void append_number(Bytes& to, T value) {
  std::array<std::byte, sizeof(T)> bytes{};
  store_number(std::span<std::byte>(bytes), value);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

inline void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// Its length, in four bytes unless told otherwise, then the bytes. ByteReader::counted() takes it back.
template <std::unsigned_integral Length = std::uint32_t>
void append_counted(Bytes& to, std::span<const std::byte> bytes) {
  append_number(to, static_cast<Length>(bytes.size()));
  append(to, bytes);
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes from the front. What is not there is nullopt; what comes after that is of no use.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> rest() const { return rest_; }

  template <std::integral T>
  std::optional<T> number() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return std::nullopt;
    return load_number<T>(*bytes);
  }

  // false: it is not there, and `value` stays as it is.
  template <std::integral T>
  bool read(T& value) {
    const auto found = number<T>();
    if (found) value = *found;
    return found.has_value();
  }
  bool read(std::span<std::byte> space) {
    const auto found = take(space.size());
    if (found) std::ranges::copy(*found, space.begin());
    return found.has_value();
  }

  std::optional<std::span<const std::byte>> take(std::size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const auto bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }

  // Nobody sends more than `bytes_max`, so a greater length is nullopt like one that is not there.
  template <std::unsigned_integral Length = std::uint32_t>
  std::optional<std::span<const std::byte>> counted(std::size_t bytes_max) {
    const auto count = number<Length>();
    if (!count || *count > bytes_max) return std::nullopt;
    return take(*count);
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tutti
