#include "os/host_lookup.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tutti::os {

Result<std::vector<TcpAddress>> find_addresses(const std::string& host, std::uint16_t port) {
  if (const auto address = TcpAddress::of_host(host, port)) return std::vector<TcpAddress>{*address};
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &first);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(first, [](addrinfo* each) {
    if (each != nullptr) ::freeaddrinfo(each);
  });
  std::vector<TcpAddress> addresses;
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, each->ai_addr, each->ai_addrlen);
    const TcpAddress address = TcpAddress::of_kernel(storage).with_port(port);
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  if (!addresses.empty()) return addresses;
  return Status(Code::network, fmt::format("no address is known for the host '{}': {}; write its address as a number",
                                           host, error != 0 ? ::gai_strerror(error) : "the list is empty"));
}

}  // namespace tutti::os
