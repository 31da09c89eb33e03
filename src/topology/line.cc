#include "topology/line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "topology/limits.h"
#include "topology/names.h"

namespace tutti::topology {

namespace {

Status set_once(const Line& line, std::string_view name, bool is_set) {
  if (!is_set) return {};
  return error_at(line.number, fmt::format("'{}' stands twice in this line; keep one", name));
}

Status read_attribute(const Line& line, std::string_view name, std::string_view value, Attributes& attributes) {
  if (name == "bandwidth") {
    TUTTI_TRY(set_once(line, name, attributes.bandwidth.has_value()));
    TUTTI_ASSIGN(attributes.bandwidth, read_rate(line, name, value));
  } else if (name == "latency") {
    TUTTI_TRY(set_once(line, name, attributes.latency.has_value()));
    TUTTI_ASSIGN(attributes.latency, read_seconds(line, name, value));
  } else {
    TUTTI_TRY(set_once(line, name, attributes.memory.has_value()));
    attributes.memory = value;
  }
  return {};
}

}  // namespace

Status error_at(std::uint32_t line, std::string_view what) {
  return invalid_argument(fmt::format("line {}: {}", line, what));
}

Result<Attributes> read_attributes(const Line& line, std::size_t first, std::span<const std::string> known) {
  Attributes attributes;
  for (std::size_t i = first; i < line.words.size(); ++i) {
    const std::string_view word = line.words[i];
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string remedy =
          known.empty() ? "expected nothing more here" : fmt::format("expected {}", fmt::join(known, ", "));
      return error_at(line.number, fmt::format("{} is not an attribute of '{}' here{}", in_quotes(name), line.keyword(),
                                               suggest(name, known, remedy)));
    }
    if (name == "shared") {
      if (equals != std::string_view::npos) return error_at(line.number, "'shared' takes no value; write it alone");
      TUTTI_TRY(set_once(line, name, attributes.shared));
      attributes.shared = true;
      continue;
    }
    if (equals == std::string_view::npos || equals + 1 == word.size()) {
      return error_at(line.number, fmt::format("'{}' has no value; write it without blanks, as in {}=...", name, name));
    }
    TUTTI_TRY(read_attribute(line, name, word.substr(equals + 1), attributes));
  }
  return attributes;
}

Result<double> read_rate(const Line& line, std::string_view what, std::string_view value) {
  const auto rate = text::rate_of(value);
  if (!rate && !value.starts_with('-')) {
    return error_at(line.number, fmt::format("{}={} is not a rate; write a number and its unit without blanks, "
                                             "such as 25GB/s (bytes) or 200Gb/s (bits)",
                                             what, in_quotes(value)));
  }
  if (!rate || *rate < kRateMin || *rate > kRateMax) {
    return error_at(line.number, fmt::format("{}={} is out of range; it must be above zero: from 1B/s to 1000000TB/s",
                                             what, in_quotes(value)));
  }
  return *rate;
}

Result<double> read_seconds(const Line& line, std::string_view what, std::string_view value) {
  const auto seconds = text::seconds_of(value);
  if (!seconds && !value.starts_with('-')) {
    return error_at(line.number, fmt::format("{} {} is not a time; write a number and its unit without blanks, such as "
                                             "2us, 150ns or 1.5ms",
                                             what, in_quotes(value)));
  }
  if (!seconds || *seconds > kSecondsMax) {
    return error_at(line.number, fmt::format("{} {} is out of range; it must not be negative, nor above {}s", what,
                                             in_quotes(value), kSecondsMax));
  }
  return *seconds;
}

Result<LinkLine> read_link(const Line& line, std::span<const std::string> known) {
  if (line.words.size() < 3 || line.words[1].find('=') != std::string_view::npos ||
      line.words[2].find('=') != std::string_view::npos) {
    return error_at(line.number, "'link' joins two names or lists; write 'link A B bandwidth=25GB/s latency=1us'");
  }
  TUTTI_ASSIGN(const Attributes attributes, read_attributes(line, 3, known));
  if (!attributes.bandwidth) {
    return error_at(line.number, fmt::format("the link from {} to {} has no bandwidth; add one, as in bandwidth=25GB/s",
                                             in_quotes(line.words[1]), in_quotes(line.words[2])));
  }
  return LinkLine{.first = line.words[1],
                  .second = line.words[2],
                  .bytes_per_s = *attributes.bandwidth,
                  .latency_s = attributes.latency.value_or(0),
                  .shared = attributes.shared};
}

Result<Pairing> pair_up(const Line& line, ListSizes sizes) {
  const std::size_t count = std::max(sizes.first, sizes.second);
  if (sizes.first == 0 || sizes.second == 0 || count % sizes.first != 0 || count % sizes.second != 0) {
    return error_at(line.number,
                    fmt::format("{} has {} ends and {} has {}: they do not pair up; make them equally many, one, or "
                                "one a multiple of the other",
                                in_quotes(line.words[1]), sizes.first, in_quotes(line.words[2]), sizes.second));
  }
  return Pairing{.count = count, .first_repeat = count / sizes.first, .second_repeat = count / sizes.second};
}

std::string suggest(std::string_view word, std::span<const std::string> known, std::string_view remedy) {
  std::string nearest = text::suggestion(word.substr(0, kNameLengthMax), known);
  return nearest.empty() ? fmt::format("; {}", remedy) : nearest;
}

std::string suggest(std::string_view word, const NameIndex& known, std::string_view remedy) {
  std::vector<std::string> names;
  for (const auto& [name, index] : known) {
    if (names.size() == kSuggestedNamesMax) break;
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());  // of two equally near names, always the same one
  return suggest(word, names, remedy);
}

}  // namespace tutti::topology
