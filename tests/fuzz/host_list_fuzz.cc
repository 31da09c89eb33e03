// Any text as the hosts of a command line: names that ssh can be given, each once, within the limits.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "launch/host_list.h"
#include "launch/host_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::launch;
  const auto hosts = parse_host_list({reinterpret_cast<const char*>(data), size});
  if (!hosts) return hosts.status().text().empty() ? (std::abort(), 0) : 0;
  if (hosts->empty() || hosts->size() > kHostsMax) std::abort();
  std::set<std::string_view> names;
  for (const Host& host : *hosts) {
    if (!check_host_name(host.name) || host.slots < 1 || host.slots > kSlotsMax) std::abort();
    if (!names.insert(host.name).second) std::abort();
  }
  return 0;
}
