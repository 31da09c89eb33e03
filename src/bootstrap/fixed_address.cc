#include "bootstrap/fixed_address.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "os/host_lookup.h"
#include "os/machine.h"
#include "os/network_interfaces.h"
#include "os/tcp_address.h"

namespace tutti::bootstrap {

namespace {

// Who listens to a start could try out shorter ones at home.
constexpr std::size_t kSecretLettersMin = 16;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Status malformed(std::string_view text, std::string_view why) {
  return invalid_argument(fmt::format(
      "'{}' is no address to meet at: {}; write it as 10.0.0.1:4000, [fd00::1]:4000 or name:4000", text, why));
}

// The key only names the use: what is secret here is the text, if anything is.
rpc::Secret secret_of(std::string_view text, std::string_view address) {
  const std::array<std::byte, rpc::Secret::kBytes> nobody{};
  const rpc::Digest digest = rpc::authenticate(rpc::Secret(nobody), {bytes_of(text)});
  return rpc::derive(rpc::Secret(digest), bytes_of(address), "tutti meets at an address");
}

ActorId actor_of(const rpc::Secret& secret, std::string_view address) {
  const rpc::Secret drawn = rpc::derive(secret, bytes_of(address), "tutti names a meeting point");
  ActorId actor;
  std::memcpy(&actor.value, drawn.reveal().data(), sizeof(actor.value));
  actor.value |= 1;  // 0 is nobody
  return actor;
}

void warn_once() {
  static std::atomic<bool> has_warned{false};
  if (has_warned.exchange(true)) return;
  log::write(LogLevel::warning, kNoRank,
             "ranks meet at an address without a secret (NCCL_COMM_ID, TUTTI_STORE or a launcher's): whoever can reach "
             "its port and knows the "
             "address could join the job; give all ranks the same TUTTI_JOB_SECRET, such as that of 'openssl rand "
             "-hex 16'");
}

}  // namespace

Result<FixedAddress> parse_fixed_address(std::string_view given) {
  const std::string_view text = text::trim(given);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed(text, "it has no port");
  const auto port = text::integer_of<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return malformed(text, "its port is no number from 1 to 65535");
  std::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || host == "[]") return malformed(text, "it has no host");
  if (!is_bracketed && host.find(':') != std::string_view::npos) {
    return malformed(text, "an address of IPv6 stands in brackets");
  }
  FixedAddress address{.host = std::string(host), .port = *port};
  std::ranges::transform(address.host, address.host.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return address;
}

Result<Identifier> identifier_of_address(std::string_view given, const FixedSettings& settings) {
  TUTTI_ASSIGN(const FixedAddress address, parse_fixed_address(given));
  if (!settings.job_secret.empty() && settings.job_secret.size() < kSecretLettersMin) {
    return invalid_argument(
        fmt::format("TUTTI_JOB_SECRET has {} characters, which are tried out soon; give it {} or "
                    "more, such as those of 'openssl rand -hex 16'",
                    settings.job_secret.size(), kSecretLettersMin));
  }
  if (settings.job_secret.empty()) warn_once();
  TUTTI_ASSIGN(const auto found, os::find_addresses(address.host, address.port));
  // Names are the same everywhere, what they resolve to need not be.
  const std::string name = fmt::format("{}:{}", address.host, address.port);
  const std::string text =
      settings.job_secret.empty() ? fmt::format("user {}", ::getuid()) : fmt::format("secret {}", settings.job_secret);
  const rpc::Secret secret = secret_of(text, name);
  MeetingAddress meeting{.contact = {.id = actor_of(secret, name), .addresses = {}},
                         .secret = secret,
                         .is_encrypted = settings.is_encrypted,
                         .is_fixed = true};
  for (const os::TcpAddress& each : found) {
    if (each.ip().is_link_local()) continue;
    meeting.contact.addresses.push_back(each.text());
  }
  if (meeting.contact.addresses.empty()) {
    return malformed(given, "addresses of one link (fe80::, 169.254) mean nothing on another host");
  }
  return make_identifier(meeting);
}

Result<std::vector<std::string>> own_addresses_of(const MeetingAddress& address) {
  TUTTI_ASSIGN(const auto interfaces, os::find_network_interfaces());
  const auto is_own = [&](const os::IpAddress& ip) {
    const auto is_it = [&](const os::InterfaceAddress& own) {
      return own.address.family == ip.family && own.address.bytes == ip.bytes;
    };
    return std::ranges::any_of(interfaces,
                               [&](const auto& each) { return std::ranges::any_of(each.addresses, is_it); });
  };
  std::vector<std::string> own;
  for (const std::string& text : address.contact.addresses) {
    const auto endpoint = os::TcpAddress::parse(text);
    // All of 127.0.0.0/8 is this host's, though the interface names one address.
    if (endpoint && (endpoint->ip().is_loopback() || is_own(endpoint->ip()))) own.push_back(text);
  }
  if (!own.empty()) return own;
  return Status(Code::network,
                fmt::format("{} is no address of {}, where rank 0 runs; tell all ranks an address of rank 0's host "
                            "(NCCL_COMM_ID, TUTTI_STORE, MASTER_ADDR)",
                            fmt::join(address.contact.addresses, ", "), os::this_machine().host));
}

}  // namespace tutti::bootstrap
