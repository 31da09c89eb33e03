#include "os/control_group.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "os/small_file.h"

namespace tutti::os {

std::optional<std::string> parse_group_path(std::string_view text) {
  for (const std::string_view line : text::split(text, '\n')) {
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return std::nullopt;
}

std::optional<double> parse_quota(std::string_view text) {
  const auto words = text::words(text);
  if (words.size() != 2) return std::nullopt;
  const auto quota = text::integer_of<std::uint64_t>(words[0]);
  const auto period = text::integer_of<std::uint64_t>(words[1]);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> cpu_quota(const std::string& root, std::string_view proc_self_cgroup) {
  auto path = parse_group_path(proc_self_cgroup);
  if (!path) return std::nullopt;
  std::optional<double> least;
  while (true) {
    const auto quota = parse_quota(read_small_file(root + *path + "/cpu.max").value_or(""));
    if (quota) least = std::min(*quota, least.value_or(*quota));
    if (path->empty()) return least;
    path->erase(path->rfind('/'));
  }
}

}  // namespace tutti::os
