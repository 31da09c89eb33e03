#include "os/nvidia_devices.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace tutti::os {
namespace {

template <class Predicate>
int count_entries(const std::string& folder, const Predicate& counts) {
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    count += counts(entry->path().filename().string()) ? 1 : 0;
  return count;
}

}  // namespace

int count_nvidia_devices(const std::string& driver_folder, const std::string& node_folder) {
  constexpr std::string_view kNode = "nvidia";
  const int nodes = count_entries(node_folder, [&](const std::string& name) {
    return name.starts_with(kNode) && text::integer_of<int>(std::string_view(name).substr(kNode.size()));
  });
  // A container sees all GPUs in /proc and only its own as nodes.
  return nodes > 0 ? nodes : count_entries(driver_folder, [](const std::string&) { return true; });
}

int count_nvidia_devices() { return count_nvidia_devices("/proc/driver/nvidia/gpus", "/dev"); }

}  // namespace tutti::os
