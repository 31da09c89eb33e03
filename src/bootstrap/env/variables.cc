#include "bootstrap/env/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kShownMax = 80;  // what is longer is no number and no name

}  // namespace

std::optional<std::string> Variables::text(std::string_view name) const {
  auto value = lookup_(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

Result<std::optional<Rank>> Variables::number(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::optional<Rank>();
  const auto number = text::integer_of<Rank>(*value);
  if (number && *number >= 0) return number;
  return invalid_argument(
      fmt::format("{} is no number from 0 to {}; launchers set it, so look for what else does, or "
                  "take it away with 'env -u {}'",
                  assignment_text(name, *value), std::numeric_limits<Rank>::max(), name));
}

std::string assignment_text(std::string_view name, std::string_view value) {
  std::string shown(value.substr(0, kShownMax));
  std::ranges::replace_if(
      shown, [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, '?');
  return fmt::format("{}={}{}", name, shown, value.size() > kShownMax ? "..." : "");
}

}  // namespace tutti::bootstrap
