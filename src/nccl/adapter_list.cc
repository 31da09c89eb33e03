#include "nccl/adapter_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace tutti::nccl {

namespace {

constexpr const char* kAdapters = "/sys/class/infiniband";

bool is_meant(std::string_view adapter, std::string_view entry, bool is_exact) {
  const auto parts = text::split(entry, ':');
  const auto own = text::split(adapter, ':');
  const std::string_view name = text::trim(parts[0]);
  if (name.empty() || (is_exact ? own[0] != name : !own[0].starts_with(name))) return false;
  return parts.size() < 2 || parts[1].empty() || parts[1] == own[1];
}

}  // namespace

std::vector<std::string> find_adapters() {
  namespace fs = std::filesystem;
  std::vector<std::string> adapters;
  std::error_code error;  // where there are none, there is no folder
  for (fs::directory_iterator adapter(kAdapters, error), end; !error && adapter != end; adapter.increment(error)) {
    std::error_code no_ports;
    for (fs::directory_iterator port(adapter->path() / "ports", no_ports); !no_ports && port != end;
         port.increment(no_ports)) {
      adapters.push_back(fmt::format("{}:{}", adapter->path().filename().string(), port->path().filename().string()));
    }
  }
  std::ranges::sort(adapters);
  return adapters;
}

std::string ucx_devices_of(std::string_view text, std::span<const std::string> adapters) {
  text = text::trim(text);
  const bool is_inverted = text.starts_with('^');
  if (is_inverted) text.remove_prefix(1);
  const bool is_exact = text.starts_with('=');
  if (is_exact) text.remove_prefix(1);
  const auto entries = text::split(text, ',');
  std::vector<std::string> chosen;
  for (const std::string& adapter : adapters) {
    const bool is_named =
        std::ranges::any_of(entries, [&](std::string_view entry) { return is_meant(adapter, entry, is_exact); });
    if (is_named != is_inverted) chosen.push_back(adapter);
  }
  return fmt::format("{}", fmt::join(chosen, ","));
}

}  // namespace tutti::nccl
