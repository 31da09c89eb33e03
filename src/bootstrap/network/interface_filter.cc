#include "bootstrap/network/interface_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::bootstrap {

namespace {

constexpr std::size_t kNamesMax = 64;

Status fault(std::string_view text, std::string_view what) {
  return invalid_argument(
      fmt::format("'{}' {}; write eth,ib for names that begin so, =eth0,eth1 for these names, "
                  "^docker,lo for all but those that begin so, ^=docker0 for all but this one",
                  text, what));
}

}  // namespace

bool InterfaceFilter::names_interface(std::string_view name) const {
  return std::ranges::any_of(
      names, [&](const std::string& each) { return match == Match::exact ? name == each : name.starts_with(each); });
}

Result<InterfaceFilter> parse_interface_filter(std::string_view text) {
  InterfaceFilter filter;
  std::string_view rest = text::trim(text);
  if (rest.empty()) return filter;
  if (rest.starts_with('^')) {
    filter.sense = InterfaceFilter::Sense::avoid;
    rest.remove_prefix(1);
  }
  if (rest.starts_with('=')) {
    filter.match = InterfaceFilter::Match::exact;
    rest.remove_prefix(1);
  }
  for (const std::string_view part : text::split(rest, ',')) {
    const std::string_view name = text::trim(part);
    if (name.empty()) return fault(text, "has an empty name");
    if (name.size() > kInterfaceNameBytesMax) return fault(text, "has a name of more than 15 letters");
    const auto is_wrong = [](char c) {
      return c == '^' || c == '=' || c == '/' || static_cast<unsigned char>(c) <= ' ';
    };
    if (std::ranges::any_of(name, is_wrong)) return fault(text, "has a name with a sign that names do not have");
    filter.names.emplace_back(name);
  }
  if (filter.names.size() > kNamesMax) return fault(text, "has more than 64 names");
  return filter;
}

}  // namespace tutti::bootstrap
