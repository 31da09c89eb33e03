// Which parts of a host its links join: traffic passes through switches, never through a device or a network card.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/topology.h"

namespace tutti::topology {

// Vertices of two devices without a path between them; nullopt when every device reaches every other.
struct Gap {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
std::optional<Gap> find_gap(const HostKind& kind);

// A device without a path to any network card; nullopt when there is none.
std::optional<std::uint32_t> find_device_without_nic(const HostKind& kind);

}  // namespace tutti::topology
