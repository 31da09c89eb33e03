// Any text as a list of hosts and as numbers of tasks: both answer within their limits, and names are names.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bootstrap/env/hostlist.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::bootstrap;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto hosts = hosts_of(text)) {
    if (hosts->empty() || hosts->size() > kHostsMax) std::abort();
    for (const std::string& host : *hosts) {
      if (host.empty() || host.size() > kHostNameBytesMax || host.find_first_of("[], \n") != std::string::npos)
        std::abort();
    }
  }
  if (const auto tasks = tasks_per_host_of(text)) {
    if (tasks->empty() || tasks->size() > kHostsMax || std::ranges::min(*tasks) < 1) std::abort();
  }
  return 0;
}
