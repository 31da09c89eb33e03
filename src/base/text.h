// Reading what people write: words, numbers with units, and what they probably meant.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::text {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::vector<std::string_view> words(std::string_view text);  // between blanks

// The whole text as a number; nullopt when anything else stands there or it does not fit.
template <class Integer>
std::optional<Integer> integer_of(std::string_view text) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}
std::optional<double> real_of(std::string_view text);

std::optional<std::uint64_t> bytes_of(std::string_view text);  // "8", "64K", "64KiB", "1M", "10G": powers of 1024
std::optional<double> seconds_of(std::string_view text);       // "2us", "150ns", "1.5ms", "3s"
std::optional<double> rate_of(std::string_view text);          // "235GB/s", "100Gb/s": powers of 1000, bytes per second

std::string bytes_text(std::uint64_t bytes);     // "64 KiB"
std::string seconds_text(double seconds);        // "12.3 us"
std::string rate_text(double bytes_per_second);  // "12.5 GB/s"

// The nearest of the known words when it is near enough to be a slip: ", did you mean 'ring'?" or nothing.
std::string suggestion(std::string_view word, std::span<const std::string> known);

// "0-3,8" for {0, 1, 2, 3, 8}.
std::string list_text(std::span<const std::int32_t> sorted);
// The reverse; nullopt on anything else, on numbers above `limit` and on descending ranges.
std::optional<std::vector<std::int32_t>> list_of(std::string_view text, std::int32_t limit);

}  // namespace tutti::text
