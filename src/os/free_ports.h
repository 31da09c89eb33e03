// Ports that nobody listens at, for programs that are told theirs before they start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/status.h"

namespace tutti::os {

// Different ones, free at this moment for IPv4 and, where the machine has it, IPv6. Drawn at random outside of the
// range from which the kernel takes ports for outgoing connections, so that they are likely to be free a second later
// too.
Result<std::vector<std::uint16_t>> find_free_ports(std::size_t count);

}  // namespace tutti::os
