// Numbers and texts as bytes in a fixed order, for what processes tell each other; reading never leaves its bounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::transport {

class Writer {
 public:
  template <class Integer>
  void number(Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      bytes_.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff));
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) {  // at most 255 characters
    number(static_cast<std::uint8_t>(text.size()));
    raw(std::as_bytes(std::span(text)));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Once it has run out of bytes, everything read is zero and is_whole() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class Integer>
  Integer number() {
    std::uint64_t value = 0;
    const auto bytes = next(sizeof(Integer));
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return static_cast<Integer>(value);
  }
  template <std::size_t size>
  std::array<std::byte, size> raw() {
    std::array<std::byte, size> value{};
    const auto bytes = next(size);
    if (!bytes.empty()) std::memcpy(value.data(), bytes.data(), size);
    return value;
  }
  std::string text() {
    const auto bytes = next(number<std::uint8_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool is_whole() const { return !failed_ && bytes_.empty(); }  // everything was there, and nothing is left

 private:
  std::span<const std::byte> next(std::size_t size) {
    failed_ = failed_ || size > bytes_.size();
    if (failed_) return {};
    const auto bytes = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return bytes;
  }

  std::span<const std::byte> bytes_;
  bool failed_ = false;
};

}  // namespace tutti::transport
