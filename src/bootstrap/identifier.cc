#include "bootstrap/identifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/text.h"
#include "bootstrap/fixed_address.h"
#include "bootstrap/meeting_point.h"
#include "os/environment.h"
#include "os/tcp_address.h"

namespace tutti {

namespace {

// magic 4, format 1, flags 1, number of addresses 1, reserved 1, actor 8, secret 32, addresses 4 x 19, checksum 4.
constexpr std::uint32_t kMagic = 0x69747574;  // "tuti"
constexpr std::uint8_t kFormat = 1;
constexpr std::uint8_t kEncrypted = 1;
constexpr std::uint8_t kFixed = 2;
constexpr std::size_t kAddresses = 4;
constexpr std::size_t kAddressBytes = 19;  // family 1, port 2, address 16
constexpr std::size_t kChecksumAt = Identifier::kBytes - 4;
static_assert(8 + 8 + rpc::Secret::kBytes + kAddresses * kAddressBytes + 4 == Identifier::kBytes);

constexpr std::string_view kPrefix = "tutti1-";
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kTextDigits = (Identifier::kBytes * 8 + 5) / 6;

// Not against forgers, who do not know the secret: against slips in copying.
std::uint32_t checksum(std::span<const std::byte> bytes) {
  std::uint32_t sum = 2166136261;
  for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint32_t>(byte)) * 16777619;
  return sum;
}

Status malformed(std::string_view why) {
  return invalid_argument(
      fmt::format("this is no identifier of a job: {}; copy it whole from where Identifier::create() was called", why));
}

}  // namespace

Result<Identifier> Identifier::of(std::span<const std::byte> bytes) {
  if (bytes.size() != kBytes) return malformed(fmt::format("it has {} bytes instead of {}", bytes.size(), kBytes));
  ByteReader reader(bytes);
  if (reader.number<std::uint32_t>() != kMagic) return malformed("it does not begin like one");
  if (const auto format = reader.number<std::uint8_t>(); format != kFormat) {
    return malformed(fmt::format("it has format {}, and this version of Tutti reads format {}", *format, kFormat));
  }
  ByteReader tail(bytes.subspan(kChecksumAt));
  if (tail.number<std::uint32_t>() != checksum(bytes.first(kChecksumAt))) return malformed("its checksum is wrong");
  Identifier identifier;
  std::copy(bytes.begin(), bytes.end(), identifier.bytes_.begin());
  return identifier;
}

std::string Identifier::text() const {
  std::string text(kPrefix);
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::byte byte : bytes_) {
    bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63];
  return text;
}

Result<Identifier> Identifier::parse(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);  // of a file that holds nothing else
  text = text::trim(text);
  if (!text.starts_with(kPrefix)) return malformed(fmt::format("it does not begin with {}", kPrefix));
  text.remove_prefix(kPrefix.size());
  if (text.size() != kTextDigits) {
    return malformed(fmt::format("it has {} digits instead of {}", text.size(), kTextDigits));
  }
  Bytes bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : text) {
    const auto value = kDigits.find(digit);
    if (value == std::string_view::npos) return malformed(fmt::format("'{}' is no digit of it", digit));
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> count & 0xff));
  }
  return of(bytes);
}

Result<Identifier> Identifier::of_address(std::string_view address) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return bootstrap::identifier_of_address(address, {.job_secret = knobs.job_secret(), .is_encrypted = knobs.encrypt()});
}

Result<Identifier> Identifier::create() { return bootstrap::open_meeting_point(); }

namespace bootstrap {

Result<Identifier> make_identifier(const MeetingAddress& address) {
  Bytes bytes;
  std::vector<os::TcpAddress> endpoints;
  for (const std::string& text : address.contact.addresses) {
    const auto endpoint = os::TcpAddress::parse(text);
    // Scopes of link-local addresses mean nothing on another host.
    if (endpoint && !endpoint->ip().is_link_local() && endpoints.size() < kAddresses) endpoints.push_back(*endpoint);
  }
  if (endpoints.empty()) {
    return Status(Code::network, fmt::format("no address of the meeting point fits an identifier; it listens at {}",
                                             fmt::join(address.contact.addresses, ", ")));
  }
  append_number(bytes, kMagic);
  append_number(bytes, kFormat);
  append_number(bytes,
                static_cast<std::uint8_t>((address.is_encrypted ? kEncrypted : 0) | (address.is_fixed ? kFixed : 0)));
  append_number(bytes, static_cast<std::uint8_t>(endpoints.size()));
  append_number(bytes, std::uint8_t{0});
  append_number(bytes, address.contact.id.value);
  append(bytes, address.secret.reveal());
  for (const os::TcpAddress& endpoint : endpoints) {
    append_number(bytes, static_cast<std::uint8_t>(endpoint.ip().family));
    append_number(bytes, endpoint.port());
    append(bytes, std::as_bytes(std::span(endpoint.ip().bytes)));
  }
  bytes.resize(kChecksumAt);
  append_number(bytes, checksum(bytes));
  return Identifier::of(bytes);
}

Result<MeetingAddress> read_identifier(const Identifier& identifier) {
  ByteReader reader(identifier.bytes().subspan(5));
  const auto flags = *reader.number<std::uint8_t>();
  const auto count = *reader.number<std::uint8_t>();
  reader.take(1);
  const ActorId actor{*reader.number<std::uint64_t>()};
  const auto secret = *reader.take(rpc::Secret::kBytes);
  MeetingAddress address{.contact = {.id = actor, .addresses = {}},
                         .secret = rpc::Secret(secret.first<rpc::Secret::kBytes>()),
                         .is_encrypted = (flags & kEncrypted) != 0,
                         .is_fixed = (flags & kFixed) != 0};
  for (std::size_t i = 0; i < std::min<std::size_t>(count, kAddresses); ++i) {
    os::IpAddress ip;
    ip.family = static_cast<os::AddressFamily>(*reader.number<std::uint8_t>());
    const auto port = *reader.number<std::uint16_t>();
    const auto bytes = *reader.take(ip.bytes.size());
    std::memcpy(ip.bytes.data(), bytes.data(), bytes.size());
    if (ip.family > os::AddressFamily::ipv6 || port == 0) return malformed("an address in it makes no sense");
    address.contact.addresses.push_back(os::TcpAddress(ip, port).text());
  }
  if (address.contact.addresses.empty()) return malformed("there is no address in it");
  return address;
}

}  // namespace bootstrap

}  // namespace tutti
