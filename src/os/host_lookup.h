// The addresses that go by the name of a host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/tcp_address.h"
#include "tutti/status.h"

namespace tutti::os {

// As the machine's resolver orders them, each once. Also takes an address itself. Blocks as long as the resolver does.
Result<std::vector<TcpAddress>> find_addresses(const std::string& host, std::uint16_t port);

}  // namespace tutti::os
