// Any bytes as a card or a hello: reading them must answer, and what is accepted must come back as it went.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "transport/shm/card.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::transport;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto card = parse_card(bytes)) {
    const auto again = parse_card(pack_card(*card));
    if (!again || *again != *card || !check_same_machine(*card, *again)) std::abort();
  }
  if (const auto hello = parse_hello(bytes)) {
    const auto again = parse_hello(pack_hello(*hello));
    if (!again || *again != *hello) std::abort();
  }
  return 0;
}
