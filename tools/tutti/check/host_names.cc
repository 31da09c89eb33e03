#include "tools/tutti/check/host_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace tutti::tool::check {

namespace {

constexpr std::size_t kDigitsMax = 9;  // what fits a number of 32 bits for sure

struct Parts {
  std::string_view front;
  std::optional<std::int32_t> number;
  std::size_t digits = 0;
  std::string_view back;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An address is a name like any other, but its parts mean nothing to a reader of names.
bool is_address(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; }) ||
         name.find(':') != std::string_view::npos;
}

Parts parts_of(std::string_view name) {
  const std::size_t host_end = std::min(name.find('.'), name.size());  // numbers of domains mean nothing here
  std::size_t end = host_end;
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (is_address(name) || begin == end || end - begin > kDigitsMax) return {.front = name, .number = {}, .back = {}};
  return {name.substr(0, begin), text::integer_of<std::int32_t>(name.substr(begin, end - begin)), end - begin,
          name.substr(end)};
}

struct Kind {
  Parts like;
  bool has_zeros = false;  // then all numbers have the same width
  std::vector<std::int32_t> numbers;
};

bool has_zeros(const Parts& parts) { return parts.number && std::to_string(*parts.number).size() < parts.digits; }

// Names with leading zeros go with those of the same width.
bool fits(const Kind& kind, const Parts& parts) {
  return kind.like.number && parts.number && kind.like.front == parts.front && kind.like.back == parts.back &&
         (kind.like.digits == parts.digits || (!kind.has_zeros && !has_zeros(parts)));
}

std::string ranges_text(const Kind& kind) {
  const std::size_t width = kind.has_zeros ? kind.like.digits : 1;
  std::vector<std::string> ranges;
  for (std::size_t begin = 0; begin < kind.numbers.size();) {
    std::size_t end = begin + 1;
    while (end < kind.numbers.size() && kind.numbers[end] == kind.numbers[end - 1] + 1) ++end;
    std::string range = fmt::format("{:0{}}", kind.numbers[begin], width);
    if (end > begin + 1) range += fmt::format("-{:0{}}", kind.numbers[end - 1], width);
    ranges.push_back(std::move(range));
    begin = end;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

std::string text_of(Kind kind) {
  if (!kind.like.number) return std::string(kind.like.front);
  std::ranges::sort(kind.numbers);
  const std::string ranges = ranges_text(kind);
  const bool is_single = kind.numbers.size() == 1;
  return fmt::format("{}{}{}{}{}", kind.like.front, is_single ? "" : "[", ranges, is_single ? "" : "]", kind.like.back);
}

}  // namespace

std::string names_text(std::span<const std::string> names) {
  std::vector<Kind> kinds;
  for (const std::string& name : names) {
    const Parts parts = parts_of(name);
    const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) { return fits(kind, parts); });
    Kind& kind = found != kinds.end() ? *found : kinds.emplace_back(Kind{parts, has_zeros(parts), {}});
    kind.has_zeros = kind.has_zeros || has_zeros(parts);
    if (parts.number) kind.numbers.push_back(*parts.number);
  }
  std::vector<std::string> texts;
  for (Kind& kind : kinds) texts.push_back(text_of(std::move(kind)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace tutti::tool::check
