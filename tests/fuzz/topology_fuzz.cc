// Any text: parse() must answer, and what it accepts must survive being printed and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tutti/topology.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto topology = tutti::topology::parse({reinterpret_cast<const char*>(data), size});
  if (!topology) return 0;
  const auto again = tutti::topology::parse(tutti::topology::print(*topology));
  if (!again || *again != *topology) std::abort();
  return 0;
}
