#include "transport/rdma_devices.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "os/small_file.h"

namespace tutti::transport {

namespace {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    entries.push_back(at->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

std::vector<RdmaPort> find_rdma_ports(const std::string& folder) {
  std::vector<RdmaPort> ports;
  for (const auto& device : entries_of(folder)) {
    for (const auto& port : entries_of(device / "ports")) {
      const std::string state = os::read_small_file((port / "state").string()).value_or("");
      ports.push_back({.name = device.filename().string() + ":" + port.filename().string(),
                       .is_active = state.find("ACTIVE") != std::string::npos});
    }
  }
  return ports;
}

bool has_active_port(const std::vector<RdmaPort>& ports) {
  return std::any_of(ports.begin(), ports.end(), [](const RdmaPort& port) { return port.is_active; });
}

}  // namespace tutti::transport
