// Any lines "NAME=VALUE" as the variables of a job of Slurm: hosts with slots, or a sentence.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/text.h"
#include "launch/host_table.h"
#include "launch/slurm_allocation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti;
  std::map<std::string, std::string, std::less<>> variables;
  for (const std::string_view line : text::split({reinterpret_cast<const char*>(data), size}, '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const auto allocation = launch::slurm_allocation_of([&](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
  if (!allocation || !*allocation) return 0;
  if ((*allocation)->hosts.empty() || (*allocation)->tasks < 0) std::abort();
  for (const launch::Host& host : (*allocation)->hosts) {
    if (!launch::check_host_name(host.name) || host.slots < 1 || host.slots > launch::kSlotsMax) std::abort();
  }
  return 0;
}
