// Any text as a line of PMI-1: what is understood says the same when it is written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bootstrap/env/pmi_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::bootstrap;
  const auto message = parse_pmi({reinterpret_cast<const char*>(data), size});
  if (!message) return 0;
  const std::string line = line_of(*message);
  if (!line.ends_with('\n') || message->fields.size() > kPmiFieldsMax) std::abort();
  const auto again = parse_pmi(std::string_view(line).substr(0, line.size() - 1));
  if (!again || again->command != message->command || again->fields != message->fields) std::abort();
  return 0;
}
