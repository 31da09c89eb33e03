// The lines of PMI-1, which a launcher and its processes say to each other: "cmd=get_result rc=0 value=abc".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/status.h"

namespace tutti::bootstrap {

// Launchers state 256 for a name, 64 for a key and 1024 or 4096 for a value: no line of theirs is longer than this.
inline constexpr std::size_t kPmiLineBytesMax = 16'384;
inline constexpr std::size_t kPmiFieldsMax = 32;

struct PmiMessage {
  std::string command;
  std::vector<std::pair<std::string, std::string>> fields = {};  // in their order, without the command

  const std::string* find(std::string_view name) const;  // nullptr: not there
};

// A line without its end. It begins with "cmd="; values have no blanks.
Result<PmiMessage> parse_pmi(std::string_view line);
// With the end of the line.
std::string line_of(const PmiMessage& message);

}  // namespace tutti::bootstrap
