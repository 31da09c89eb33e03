// One line of a topology file, and what all its readers need: attributes, quantities, and errors that say where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tutti/status.h"

namespace tutti::topology {

struct Line {
  std::uint32_t number = 0;
  std::string_view text;                // without its comment
  std::vector<std::string_view> words;  // never empty

  std::string_view keyword() const { return words.front(); }
};

Status error_at(std::uint32_t line, std::string_view what);

// What `name=value` words and flags of a line say.
struct Attributes {
  std::optional<double> bandwidth;
  std::optional<double> latency;
  std::optional<std::string_view> memory;  // a rate or a name
  bool shared = false;
};

// Reads the words from `first` on; a word that is not in `known` (of bandwidth, latency, memory, shared) is an error.
Result<Attributes> read_attributes(const Line& line, std::size_t first, std::span<const std::string> known);

// Within the limits, above zero (a rate) or not below it (a time).
Result<double> read_rate(const Line& line, std::string_view what, std::string_view value);
Result<double> read_seconds(const Line& line, std::string_view what, std::string_view value);

// `link A B bandwidth=... latency=... shared`: the two lists as they stand, and what the cable can do.
struct LinkLine {
  std::string_view first;
  std::string_view second;
  double bytes_per_s = 0;
  double latency_s = 0;
  bool shared = false;
};
Result<LinkLine> read_link(const Line& line, std::span<const std::string> known);

// Two lists pair up when one is as long as the other or k times as long: then each of the shorter gets k consecutive
// ones of the longer.
struct Pairing {
  std::size_t count = 0;
  std::size_t first_repeat = 1;
  std::size_t second_repeat = 1;
};
struct ListSizes {
  std::size_t first = 0;
  std::size_t second = 0;
};
Result<Pairing> pair_up(const Line& line, ListSizes sizes);

using NameIndex = std::unordered_map<std::string, std::uint32_t>;

// ", did you mean 'x'?" or, when nothing is near, "; " and the given remedy.
std::string suggest(std::string_view word, std::span<const std::string> known, std::string_view remedy);
std::string suggest(std::string_view word, const NameIndex& known, std::string_view remedy);

}  // namespace tutti::topology
