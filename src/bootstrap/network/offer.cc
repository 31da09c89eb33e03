#include "bootstrap/network/offer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/assert.h"
#include "base/bytes.h"

namespace tutti::bootstrap {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kFlagIpv4 = 1;
constexpr std::uint8_t kFlagIpv6 = 2;

std::uint32_t megabits_of(std::uint64_t bits) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bits / 1'000'000, std::numeric_limits<std::uint32_t>::max()));
}

bool has_loopback(std::span<const os::NetworkInterface> all, os::AddressFamily family) {
  return std::ranges::any_of(all, [family](const os::NetworkInterface& interface) {
    return interface.is_loopback && interface.is_up &&
           std::ranges::any_of(interface.addresses, [family](const os::InterfaceAddress& each) {
             return each.address.family == family && each.address.is_loopback();
           });
  });
}

void append_text(Bytes& to, std::string_view text) { append_counted<std::uint8_t>(to, bytes_of(text)); }

// Names go into logs of other hosts: nothing that would steer a terminal.
bool is_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string clean_name(std::string_view text) {
  std::string name(text.substr(0, kPlaceNameBytesMax));
  std::ranges::replace_if(
      name,
      [](char c) {
        return !is_name({&c, 1});
      },
      '?');
  return name;
}

std::optional<std::string> read_name(ByteReader& reader, std::size_t bytes_max) {
  const auto bytes = reader.counted<std::uint8_t>(bytes_max);
  if (!bytes || !is_name(text_of(*bytes))) return std::nullopt;
  return std::string(text_of(*bytes));
}

std::optional<os::InterfaceAddress> read_address(ByteReader& reader) {
  const auto family = reader.number<std::uint8_t>();
  const auto prefix = reader.number<std::uint8_t>();
  if (!family || !prefix || (*family != 4 && *family != 6)) return std::nullopt;
  os::InterfaceAddress address{.prefix_bits = *prefix};
  address.address.family = *family == 4 ? os::AddressFamily::ipv4 : os::AddressFamily::ipv6;
  const int bits = os::bits_of(address.address.family);
  const auto bytes = reader.take(static_cast<std::size_t>(bits) / 8);
  if (!bytes || *prefix > bits) return std::nullopt;
  std::ranges::transform(*bytes, address.address.bytes.begin(),
                         [](auto b) { return std::to_integer<std::uint8_t>(b); });
  return address;
}

std::optional<OfferedInterface> read_interface(ByteReader& reader) {
  auto name = read_name(reader, kInterfaceNameBytesMax);
  const auto index = reader.number<std::uint32_t>();
  const auto speed = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint8_t>();
  if (!name || name->empty() || !index || !speed || !count || *count > kOfferedAddressesMax) return std::nullopt;
  OfferedInterface interface { .name = *std::move(name), .index = *index, .speed_megabits = *speed };
  for (int left = *count; left > 0; --left) {
    const auto address = read_address(reader);
    if (!address) return std::nullopt;
    interface.addresses.push_back(*address);
  }
  return interface;
}

void append_interface(Bytes& to, const OfferedInterface& interface) {
  append_text(to, interface.name);
  append_number(to, interface.index);
  append_number(to, interface.speed_megabits);
  append_number(to, static_cast<std::uint8_t>(interface.addresses.size()));
  for (const os::InterfaceAddress& each : interface.addresses) {
    const bool is_ipv4 = each.address.family == os::AddressFamily::ipv4;
    append_number(to, static_cast<std::uint8_t>(is_ipv4 ? 4 : 6));
    append_number(to, static_cast<std::uint8_t>(each.prefix_bits));
    append(to, std::as_bytes(std::span(each.address.bytes)).first(is_ipv4 ? 4 : 16));
  }
}

}  // namespace

bool is_same_place(const Offer& a, const Offer& b) {
  return !a.machine.empty() && a.machine == b.machine && a.network_namespace != 0 &&
         a.network_namespace == b.network_namespace;
}

Offer offer_of(const Selection& selection, std::span<const os::NetworkInterface> all, const Wish& wish,
               const os::Machine& machine, std::uint64_t network_namespace) {
  Offer offer{.host = clean_name(machine.host),
              .machine = clean_name(machine.boot_id),
              .network_namespace = network_namespace,
              .has_loopback_ipv4 = wish.family != SocketFamily::ipv6 && has_loopback(all, os::AddressFamily::ipv4),
              .has_loopback_ipv6 = wish.family != SocketFamily::ipv4 && has_loopback(all, os::AddressFamily::ipv6)};
  for (const os::NetworkInterface& each : selection.chosen) {
    if (offer.interfaces.size() == kOfferedInterfacesMax) break;
    OfferedInterface interface {
      .name = clean_name(each.name), .index = each.index, .speed_megabits = megabits_of(each.speed_bits)
    };
    for (os::InterfaceAddress address : each.addresses) {
      if (interface.addresses.size() == kOfferedAddressesMax) break;
      address.address.scope_id = 0;
      interface.addresses.push_back(address);
    }
    offer.interfaces.push_back(std::move(interface));
  }
  return offer;
}

Bytes encode(const Offer& offer) {
  TUTTI_ASSERT(offer.interfaces.size() <= kOfferedInterfacesMax, "offer_of keeps the limits");
  Bytes bytes;
  append_number(bytes, kVersion);
  append_number(bytes, static_cast<std::uint8_t>((offer.has_loopback_ipv4 ? kFlagIpv4 : 0) |
                                                 (offer.has_loopback_ipv6 ? kFlagIpv6 : 0)));
  append_number(bytes, offer.network_namespace);
  append_text(bytes, offer.host);
  append_text(bytes, offer.machine);
  append_number(bytes, static_cast<std::uint8_t>(offer.interfaces.size()));
  for (const OfferedInterface& each : offer.interfaces) append_interface(bytes, each);
  TUTTI_ASSERT(bytes.size() <= kOfferBytesMax, "offer_of keeps the limits");
  return bytes;
}

Result<Offer> decode_offer(std::span<const std::byte> bytes) {
  const auto fault = [](std::string_view what) {
    return invalid_argument(fmt::format("what a host offers of its interfaces {}", what));
  };
  ByteReader reader(bytes);
  const auto version = reader.number<std::uint8_t>();
  if (!version || *version != kVersion)
    return fault(fmt::format("has format {}; this version of Tutti reads {}", version.value_or(0), kVersion));
  const auto flags = reader.number<std::uint8_t>();
  const auto network_namespace = reader.number<std::uint64_t>();
  auto host = read_name(reader, kPlaceNameBytesMax);
  auto machine = read_name(reader, kPlaceNameBytesMax);
  const auto count = reader.number<std::uint8_t>();
  if (!flags || *flags > (kFlagIpv4 | kFlagIpv6) || !network_namespace || !host || !machine || !count ||
      *count > kOfferedInterfacesMax) {
    return fault("has a head that is cut short or outside of the limits");
  }
  Offer offer{.host = *std::move(host),
              .machine = *std::move(machine),
              .network_namespace = *network_namespace,
              .has_loopback_ipv4 = (*flags & kFlagIpv4) != 0,
              .has_loopback_ipv6 = (*flags & kFlagIpv6) != 0};
  for (int left = *count; left > 0; --left) {
    auto interface = read_interface(reader);
    if (!interface) return fault("has an interface that is cut short or outside of the limits");
    offer.interfaces.push_back(*std::move(interface));
  }
  if (!reader.rest().empty()) return fault(fmt::format("has {} bytes too many", reader.rest().size()));
  return offer;
}

}  // namespace tutti::bootstrap
