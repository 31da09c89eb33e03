#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace tutti::text {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// A number directly followed by one of the units, or by blanks and one.
std::optional<double> quantity_of(std::string_view text, std::span<const Unit> units) {
  std::size_t digits = 0;
  while (digits < text.size() && (std::isdigit(static_cast<unsigned char>(text[digits])) != 0 || text[digits] == '.'))
    ++digits;
  const auto number = real_of(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string_view unit = trim(text.substr(digits));
  for (const Unit& known : units) {
    if (known.name == unit) return *number * known.factor;
  }
  return std::nullopt;
}

// Letters to insert, leave out, replace or swap with their neighbour to make one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

std::string scaled(double value, double base, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= base) {
    value /= base;
    ++unit;
  }
  const bool whole = value == std::floor(value) && value < 10000;
  return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.3g} {}", value, units[unit]);
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r", i);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    i = end;
  }
  return found;
}

std::optional<double> real_of(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  constexpr double kKi = 1024;
  static constexpr std::array<Unit, 15> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"K", kKi},
                                                   {"KB", kKi},
                                                   {"KiB", kKi},
                                                   {"M", kKi * kKi},
                                                   {"MB", kKi * kKi},
                                                   {"MiB", kKi * kKi},
                                                   {"G", kKi * kKi * kKi},
                                                   {"GB", kKi * kKi * kKi},
                                                   {"GiB", kKi * kKi * kKi},
                                                   {"T", kKi * kKi * kKi * kKi},
                                                   {"TB", kKi * kKi * kKi * kKi},
                                                   {"TiB", kKi * kKi * kKi * kKi},
                                                   {"k", kKi}}};
  const auto value = quantity_of(text, kUnits);
  constexpr double kLimit = 9.0e18;
  if (!value || *value < 0 || *value > kLimit || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<double> seconds_of(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits = {{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  return quantity_of(text, kUnits);
}

std::optional<double> rate_of(std::string_view text) {
  static constexpr std::array<Unit, 8> kUnits = {{{"B/s", 1},
                                                  {"KB/s", 1e3},
                                                  {"MB/s", 1e6},
                                                  {"GB/s", 1e9},
                                                  {"TB/s", 1e12},
                                                  {"Mb/s", 1e6 / 8},
                                                  {"Gb/s", 1e9 / 8},
                                                  {"Tb/s", 1e12 / 8}}};
  return quantity_of(text, kUnits);
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  return scaled(static_cast<double>(bytes), 1024, kUnits);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.4g} us", seconds * 1e6);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

std::string rate_text(double bytes_per_second) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  return scaled(bytes_per_second, 1000, kUnits);
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kWordMax = 64;  // longer ones are no slip of a known word
  if (word.size() > kWordMax) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::string() : fmt::format(", did you mean '{}'?", *best);
}

std::string list_text(std::span<const std::int32_t> sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[last]);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<std::int32_t>> list_of(std::string_view text, std::int32_t limit) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = integer_of<std::int32_t>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : integer_of<std::int32_t>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > limit) return std::nullopt;
    for (std::int32_t n = *first; n <= *last; ++n) numbers.push_back(n);
    if (numbers.size() > static_cast<std::size_t>(limit) + 1) return std::nullopt;
  }
  return numbers;
}

}  // namespace tutti::text
