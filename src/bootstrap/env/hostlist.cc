#include "bootstrap/env/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kShownMax = 100;
constexpr std::size_t kDigitsMax = 18;  // fits 64 bits

Status malformed(std::string_view list, std::string_view why) {
  return invalid_argument(fmt::format("'{}{}' is no list of hosts: {}; write it as gpu[01-03,20],login",
                                      list.substr(0, kShownMax), list.size() > kShownMax ? "..." : "", why));
}

// "01-03": as many digits as the first number has.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;
  std::uint64_t count() const { return last - first + 1; }
};

// A piece of a name: always the same text, or one of the numbers.
struct Piece {
  std::string text = {};
  std::vector<Range> ranges = {};
};

Result<Range> range_of(std::string_view list, std::string_view text) {
  const auto dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  const auto from = text::integer_of<std::uint64_t>(first);
  const auto to = text::integer_of<std::uint64_t>(last);
  if (!from || !to || first.size() > kDigitsMax || last.size() > kDigitsMax) {
    return malformed(list, fmt::format("'{}' is no number and no range", text.substr(0, kShownMax)));
  }
  if (*from > *to) return malformed(list, fmt::format("the range {} goes backwards", text));
  return Range{*from, *to, first.size()};
}

Result<std::vector<Range>> ranges_of(std::string_view list, std::string_view text) {
  std::vector<Range> ranges;
  for (const std::string_view part : text::split(text, ',')) {
    TUTTI_ASSIGN(const Range range, range_of(list, text::trim(part)));
    ranges.push_back(range);
  }
  return ranges;
}

// The pieces of one name, without the commas around it.
Result<std::vector<Piece>> pieces_of(std::string_view list, std::string_view name) {
  std::vector<Piece> pieces;
  while (!name.empty()) {
    const auto open = name.find('[');
    const std::string_view plain = name.substr(0, open);
    if (plain.find(']') != std::string_view::npos) return malformed(list, "a bracket closes that was not opened");
    if (plain.find_first_of(" \t\r\n/") != std::string_view::npos) {
      return malformed(list, "names of hosts have no blanks and no slashes");
    }
    if (!plain.empty()) pieces.push_back({.text = std::string(plain)});
    if (open == std::string_view::npos) break;
    const auto close = name.find(']', open);
    if (close == std::string_view::npos) return malformed(list, "a bracket is not closed");
    TUTTI_ASSIGN(auto ranges, ranges_of(list, name.substr(open + 1, close - open - 1)));
    pieces.push_back({.ranges = std::move(ranges)});
    name.remove_prefix(close + 1);
  }
  if (pieces.empty()) return malformed(list, "a name is empty");
  return pieces;
}

// How many names the pieces stand for; more than kHostsMax where it does not matter how many more.
std::size_t count_of(const std::vector<Piece>& pieces) {
  std::uint64_t count = 1;
  for (const Piece& piece : pieces) {
    if (piece.ranges.empty()) continue;
    std::uint64_t choices = 0;
    for (const Range& range : piece.ranges) choices += std::min<std::uint64_t>(range.count(), kHostsMax + 1);
    count *= std::min<std::uint64_t>(choices, kHostsMax + 1);
    if (count > kHostsMax) return kHostsMax + 1;
  }
  return count;
}

std::vector<std::string> choices_of(const Piece& piece) {
  if (piece.ranges.empty()) return {piece.text};
  std::vector<std::string> choices;
  for (const Range& range : piece.ranges) {
    for (std::uint64_t number = range.first; number <= range.last; ++number) {
      choices.push_back(fmt::format("{:0{}}", number, range.width));
    }
  }
  return choices;
}

std::vector<std::string> names_of(const std::vector<Piece>& pieces) {
  std::vector<std::string> names = {""};
  for (const Piece& piece : pieces) {
    const std::vector<std::string> choices = choices_of(piece);
    std::vector<std::string> longer;
    longer.reserve(names.size() * choices.size());
    for (const std::string& name : names) {
      for (const std::string& choice : choices) longer.push_back(name + choice);
    }
    names = std::move(longer);
  }
  return names;
}

// Up to the next comma that stands in no brackets.
std::string_view take_name(std::string_view& rest) {
  bool is_inside = false;
  std::size_t end = 0;
  for (; end < rest.size() && (is_inside || rest[end] != ','); ++end) {
    if (rest[end] == '[') is_inside = true;
    if (rest[end] == ']') is_inside = false;
  }
  const std::string_view name = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return name;
}

std::size_t longest_of(const std::vector<Piece>& pieces) {
  std::size_t length = 0;
  for (const Piece& piece : pieces) length += piece.ranges.empty() ? piece.text.size() : kDigitsMax;
  return length;
}

}  // namespace

Result<std::vector<std::string>> hosts_of(std::string_view list) {
  std::vector<std::string> hosts;
  std::string_view rest = list;
  bool has_more = true;
  while (has_more) {
    const std::size_t before = rest.size();
    const std::string_view name = take_name(rest);
    has_more = before > name.size();
    TUTTI_ASSIGN(const auto pieces, pieces_of(list, text::trim(name)));
    if (longest_of(pieces) > kHostNameBytesMax) {
      return malformed(list, fmt::format("names of hosts have at most {} letters", kHostNameBytesMax));
    }
    if (hosts.size() + count_of(pieces) > kHostsMax) {
      return malformed(list, fmt::format("it has more than {} hosts", kHostsMax));
    }
    std::vector<std::string> names = names_of(pieces);
    std::move(names.begin(), names.end(), std::back_inserter(hosts));
  }
  return hosts;
}

Result<std::vector<Rank>> tasks_per_host_of(std::string_view list) {
  std::vector<Rank> tasks;
  for (const std::string_view given : text::split(list, ',')) {
    const std::string_view part = text::trim(given);
    const auto open = part.find("(x");
    const auto count = text::integer_of<Rank>(part.substr(0, open));
    std::optional<std::size_t> times = 1;
    if (open != std::string_view::npos) {
      times = part.ends_with(')') ? text::integer_of<std::size_t>(part.substr(open + 2, part.size() - open - 3))
                                  : std::nullopt;
    }
    if (!count || *count < 1 || !times || *times < 1 || *times > kHostsMax - tasks.size()) {
      return invalid_argument(
          fmt::format("'{}' are no numbers of tasks on up to {} hosts; Slurm writes them as 2(x3),1",
                      list.substr(0, kShownMax), kHostsMax));
    }
    tasks.insert(tasks.end(), *times, *count);
  }
  return tasks;
}

}  // namespace tutti::bootstrap
