// Numbers and byte strings in a row of bytes, little-endian: what files, requests and messages are made of.
#pragma once

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

template <std::integral T>
void append_number(Bytes& to, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t index = 0; index < sizeof(T); ++index)
    to.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(bits) >> (8 * index) & 0xff));
}

inline void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// Its length in four bytes, then the bytes. ByteReader::counted() takes it back.
inline void append_counted(Bytes& to, std::span<const std::byte> bytes) {
  append_number(to, static_cast<std::uint32_t>(bytes.size()));
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
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < sizeof(T); ++index)
      value |= std::to_integer<std::uint64_t>((*bytes)[index]) << (8 * index);
    return static_cast<T>(value);
  }

  std::optional<std::span<const std::byte>> take(std::size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const auto bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }

  // Nobody sends more than `bytes_max`, so a greater length is nullopt like one that is not there.
  std::optional<std::span<const std::byte>> counted(std::size_t bytes_max) {
    const auto count = number<std::uint32_t>();
    if (!count || *count > bytes_max) return std::nullopt;
    return take(*count);
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tutti
