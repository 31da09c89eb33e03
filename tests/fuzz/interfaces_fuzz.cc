// Any bytes as what a host offers, and any text as names of interfaces: both answer, and what is accepted is used.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "bootstrap/network/interface_filter.h"
#include "bootstrap/network/rails.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::bootstrap;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto filter = parse_interface_filter(text)) {
    for (const auto& name : filter->names) {
      if (!filter->names_interface(name)) std::abort();
    }
  }
  const auto offer = decode_offer(bytes);
  if (!offer) return 0;
  if (!std::ranges::equal(encode(*offer), bytes)) std::abort();
  Offer other = *offer;  // a neighbour: the last bit of every address is another one
  other.network_namespace = ~offer->network_namespace;
  for (auto& interface : other.interfaces) {
    for (auto& each : interface.addresses)
      each.address.bytes[each.address.family == tutti::os::AddressFamily::ipv4 ? 3 : 15] ^= 1u;
  }
  const auto there = rails_between(*offer, other, 4);
  const auto back = rails_between(other, *offer, 4);
  if (there.is_ok() != back.is_ok() || (there && there->rails.size() != back->rails.size())) std::abort();
  if (there && (there->rails.empty() || there->rails.size() > 4)) std::abort();
  return 0;
}
