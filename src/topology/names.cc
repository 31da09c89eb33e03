#include "topology/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "topology/limits.h"

namespace tutti::topology {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

Status check_name(std::string_view text) {
  if (!is_name(text)) {
    return invalid_argument(
        fmt::format("{} is not a name; a name begins with a letter and goes on with letters, digits, '_' and '-'",
                    in_quotes(text)));
  }
  if (text.size() > kNameLengthMax) {
    return invalid_argument(fmt::format("the name {} has {} characters; at most {} are allowed", in_quotes(text),
                                        text.size(), kNameLengthMax));
  }
  return {};
}

// "08-10": numbers 8 to 10 in two digits.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t width = 0;
};

std::optional<Range> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  if (first.size() > kListDigitsMax || last.size() > kListDigitsMax) return std::nullopt;
  const auto first_number = text::integer_of<std::uint32_t>(first);
  const auto last_number = text::integer_of<std::uint32_t>(last);
  if (!first_number || !last_number || *last_number < *first_number) return std::nullopt;
  return Range{*first_number, *last_number, first.size()};
}

Status expand_item(std::string_view item, std::size_t limit, std::vector<std::string>& names) {
  const auto too_many = [&] {
    return invalid_argument(fmt::format("the list {} makes more than {} names", in_quotes(item), limit));
  };
  const std::size_t bracket = item.find('[');
  if (bracket == std::string_view::npos) {
    TUTTI_TRY(check_name(item));
    if (names.size() >= limit) return too_many();
    names.emplace_back(item);
    return {};
  }
  const std::string_view prefix = item.substr(0, bracket);
  TUTTI_TRY(check_name(prefix));
  if (item.back() != ']') {
    return invalid_argument(
        fmt::format("the list {} does not end with ']'; write it without blanks, such as gpu[0-3,8]", in_quotes(item)));
  }
  for (const std::string_view part : text::split(item.substr(bracket + 1, item.size() - bracket - 2), ',')) {
    const auto range = range_of(part);
    if (!range) {
      return invalid_argument(fmt::format(
          "{} in the list {} is not a number or an ascending range of at most {} digits; write it as in gpu[0-3,8]",
          in_quotes(part), in_quotes(item), kListDigitsMax));
    }
    if (range->last - range->first >= limit - std::min(names.size(), limit)) return too_many();
    for (std::uint32_t number = range->first; number <= range->last; ++number) {
      names.push_back(fmt::format("{}{:0{}}", prefix, number, range->width));
    }
    TUTTI_TRY(check_name(names.back()));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> list_items(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool in_brackets = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') in_brackets = true;
    if (list[i] == ']') in_brackets = false;
    if (list[i] != ',' || in_brackets) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  items.push_back(list.substr(begin));
  return items;
}

Result<std::vector<std::string>> expand(std::string_view list, std::size_t limit) {
  std::vector<std::string> names;
  for (const std::string_view item : list_items(list)) TUTTI_TRY(expand_item(item, limit, names));
  return names;
}

std::string_view prefix_of(std::string_view name) {
  std::size_t digits = 0;
  while (digits < name.size() && digits < kListDigitsMax && is_digit(name[name.size() - 1 - digits])) ++digits;
  return name.substr(0, name.size() - digits);
}

std::vector<std::string> fold_items(std::span<const std::string> names) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < names.size();) {
    const std::string_view prefix = prefix_of(names[i]);
    std::vector<std::string> ranges;
    std::size_t name_count = 0;
    while (i < names.size() && prefix_of(names[i]) == prefix) {
      const std::string_view digits = std::string_view(names[i]).substr(prefix.size());
      const auto number = text::integer_of<std::uint32_t>(digits);
      if (!number) break;
      std::uint32_t last = *number;
      const std::size_t begin = i++;
      const auto is_next = [&](const std::string& name) {
        return prefix_of(name) == prefix && name == fmt::format("{}{:0{}}", prefix, last + 1, digits.size());
      };
      for (; i < names.size() && is_next(names[i]); ++i) ++last;
      name_count += i - begin;
      ranges.push_back(last == *number ? std::string(digits)
                                       : fmt::format("{}-{}", digits, names[i - 1].substr(prefix.size())));
    }
    if (name_count == 0) ++i;
    if (name_count <= 1) {
      items.push_back(names[i - 1]);
    } else {
      items.push_back(fmt::format("{}[{}]", prefix, fmt::join(ranges, ",")));
    }
  }
  return items;
}

std::string fold(std::span<const std::string> names) { return fmt::format("{}", fmt::join(fold_items(names), ",")); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 48;
  std::string shown(text.substr(0, kShown));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
  return fmt::format("'{}{}'", shown, text.size() > kShown ? "..." : "");
}

}  // namespace tutti::topology
