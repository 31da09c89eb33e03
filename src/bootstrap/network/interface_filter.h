// Which interfaces a user wants, as TUTTI_SOCKET_IFNAME and NCCL_SOCKET_IFNAME say it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::bootstrap {

// "eth,ib": names that begin so. "=eth0,eth1": these names. "^docker,lo": all but those that begin so. "^=docker0": all
// but this one.
struct InterfaceFilter {
  enum class Match : std::uint8_t { prefix, exact };
  enum class Sense : std::uint8_t { use, avoid };

  std::vector<std::string> names = {};  // none: the user wants nothing in particular
  Match match = Match::prefix;
  Sense sense = Sense::use;

  bool is_empty() const { return names.empty(); }
  bool names_interface(std::string_view name) const;
  bool operator==(const InterfaceFilter&) const = default;
};

inline constexpr std::size_t kInterfaceNameBytesMax = 15;  // of Linux

Result<InterfaceFilter> parse_interface_filter(std::string_view text);

}  // namespace tutti::bootstrap
