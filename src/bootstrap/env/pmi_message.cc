#include "bootstrap/env/pmi_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kShownMax = 60;

Status malformed(std::string_view line, std::string_view why) {
  std::string shown(line.substr(0, kShownMax));
  std::ranges::replace_if(
      shown, [](unsigned char letter) { return letter < ' ' || letter >= 0x7f; }, '?');
  return {Code::network, fmt::format("the launcher has said '{}', which is not PMI-1: {}", shown, why)};
}

}  // namespace

const std::string* PmiMessage::find(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &std::pair<std::string, std::string>::first);
  return found == fields.end() ? nullptr : &found->second;
}

Result<PmiMessage> parse_pmi(std::string_view line) {
  if (line.size() > kPmiLineBytesMax) return malformed(line, fmt::format("it has {} bytes", line.size()));
  if (line.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos) {
    return malformed(line, "a line does not go on after its end");
  }
  PmiMessage message;
  for (const std::string_view word : text::words(line)) {
    const auto equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    if (message.command.empty()) {
      if (name != "cmd" || value.empty()) return malformed(line, "it does not begin with a command");
      message.command = value;
      continue;
    }
    if (equals == std::string_view::npos || name.empty()) return malformed(line, "a field has no name or no '='");
    if (message.fields.size() == kPmiFieldsMax) return malformed(line, "it has too many fields");
    message.fields.emplace_back(name, value);
  }
  if (message.command.empty()) return malformed(line, "it is empty");
  return message;
}

std::string line_of(const PmiMessage& message) {
  std::string line = "cmd=" + message.command;
  for (const auto& [name, value] : message.fields) fmt::format_to(std::back_inserter(line), " {}={}", name, value);
  return line + "\n";
}

}  // namespace tutti::bootstrap
