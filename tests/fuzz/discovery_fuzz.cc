// Any text as the output of a host discovery script, and any bytes as a world: hosts have names that ssh takes for
// nothing else, and what was read is written as the same again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "bootstrap/job_world.h"
#include "launch/elastic/discovery.h"
#include "launch/host_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto hosts = launch::parse_discovery(text, 2)) {
    for (const launch::Host& host : *hosts) {
      if (!launch::check_host_name(host.name) || host.slots < 1 || host.slots > launch::kSlotsMax) std::abort();
    }
  }
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto world = bootstrap::parse_job_world(bytes)) {
    const Bytes again = bootstrap::encode(*world);
    if (!std::ranges::equal(again, bytes)) std::abort();
  }
  return 0;
}
