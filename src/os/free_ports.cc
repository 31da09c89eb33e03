#include "os/free_ports.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/random.h"
#include "base/text.h"
#include "os/entropy.h"
#include "os/file_descriptor.h"
#include "os/small_file.h"

namespace tutti::os {
namespace {

// Below what Linux takes for outgoing connections unless told otherwise, and above what services are known by.
constexpr std::uint16_t kFirst = 12000;
constexpr std::uint16_t kLast = 28999;
constexpr std::size_t kTriesPerPort = 200;

struct Range {
  int first = 0;
  int last = -1;
  bool contains(int port) const { return first <= port && port <= last; }
};

Range ephemeral_range() {
  const auto file = read_small_file("/proc/sys/net/ipv4/ip_local_port_range");
  if (!file) return {};
  std::string line = *file;
  std::ranges::replace(line, '\t', ' ');
  const auto words = text::words(line);
  if (words.size() != 2) return {};
  return {text::integer_of<int>(words[0]).value_or(0), text::integer_of<int>(words[1]).value_or(-1)};
}

// False: taken. A family that the machine does not have takes nothing.
bool is_free(int family, std::uint16_t port) {
  const FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return errno == EAFNOSUPPORT;
  if (family == AF_INET) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  const int only = 1;
  ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
  return errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT;
}

}  // namespace

Result<std::vector<std::uint16_t>> find_free_ports(std::size_t count) {
  std::array<std::byte, sizeof(std::uint64_t)> seed{};
  TUTTI_TRY(fill_random(seed));
  Random random(load_number<std::uint64_t>(seed));
  Range ephemeral = ephemeral_range();
  if (ephemeral.contains(kFirst) && ephemeral.contains(kLast)) ephemeral = {};  // there is no place beside it
  std::vector<std::uint16_t> ports;
  for (std::size_t tries = 0; ports.size() < count && tries < kTriesPerPort * count; ++tries) {
    const auto port = static_cast<std::uint16_t>(kFirst + random.below(kLast - kFirst + 1));
    if (ephemeral.contains(port) || std::ranges::find(ports, port) != ports.end()) continue;
    if (is_free(AF_INET, port) && is_free(AF_INET6, port)) ports.push_back(port);
  }
  if (ports.size() == count) return ports;
  return Status(Code::network, fmt::format("only {} of {} free ports were found between {} and {}; end programs that "
                                           "listen there",
                                           ports.size(), count, kFirst, kLast));
}

}  // namespace tutti::os
