// Any bytes as what launcher and agents say to each other: what is accepted is what is written.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "launch/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto envelope = tutti::launch::parse_envelope(bytes);
  if (!envelope) return 0;
  const tutti::Bytes written = tutti::launch::encode(*envelope);
  if (!std::ranges::equal(std::span(written).subspan(sizeof(std::uint32_t)), bytes)) std::abort();
  if (tutti::launch::host_of(bytes) != envelope->host) std::abort();
  return 0;
}
