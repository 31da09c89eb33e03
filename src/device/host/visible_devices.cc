#include "device/host/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "os/machine.h"

namespace tutti::device {

namespace {

constexpr std::string_view kUuidPrefix = "GPU-";

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A beginning that fits several devices names none of them.
std::optional<int> device_of_uuid(std::string_view beginning, int count) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::optional<int> found;
  for (int number = 0; number < count; ++number) {
    const std::string text = uuid_text(uuid_of(number));
    if (beginning.size() > text.size()) return std::nullopt;
    if (!std::ranges::equal(std::string_view(text).substr(0, beginning.size()), beginning, {}, lower, lower)) continue;
    if (found) return std::nullopt;
    found = number;
  }
  return found;
}

std::optional<int> device_of(std::string_view entry, int count) {
  if (entry.starts_with(kUuidPrefix)) return device_of_uuid(entry, count);
  const auto number = text::integer_of<int>(entry);
  return number && *number >= 0 && *number < count ? number : std::nullopt;
}

}  // namespace

DeviceUuid uuid_of(int number) {
  const auto machine = static_cast<std::uint64_t>(std::hash<std::string>{}(os::this_machine().boot_id));
  DeviceUuid uuid{};
  std::memcpy(uuid.data(), "Tutti", 5);
  std::memcpy(uuid.data() + 5, &machine, 7);
  std::memcpy(uuid.data() + 12, &number, sizeof(number));
  return uuid;
}

std::string uuid_text(const DeviceUuid& uuid) {
  std::string text(kUuidPrefix);
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::vector<int> visible_devices(int count, const std::optional<std::string>& list) {
  std::vector<int> seen;
  if (!list) {
    seen.resize(static_cast<std::size_t>(count));
    std::iota(seen.begin(), seen.end(), 0);
    return seen;
  }
  for (const std::string_view entry : text::split(*list, ',')) {
    const auto number = device_of(without_blanks(entry), count);
    if (!number || std::ranges::find(seen, *number) != seen.end()) break;
    seen.push_back(*number);
  }
  return seen;
}

}  // namespace tutti::device
