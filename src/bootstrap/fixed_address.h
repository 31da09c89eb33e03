// Identifiers that every process of a job makes by itself, from an address that all of them were told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/identifier.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {

struct FixedAddress {
  std::string host;  // a name or an address, in small letters
  std::uint16_t port = 0;
};
// "10.0.0.1:4000", "[fd00::1]:4000", "name:4000".
Result<FixedAddress> parse_fixed_address(std::string_view text);

struct FixedSettings {
  std::string_view job_secret = {};  // empty: none, about which the log has a warning, once
  bool is_encrypted = false;
};
// The same in every process that has the same settings and the same user.
Result<Identifier> identifier_of_address(std::string_view address, const FixedSettings& settings);

// Those of its addresses that this host has, to listen on.
Result<std::vector<std::string>> own_addresses_of(const MeetingAddress& address);

}  // namespace tutti::bootstrap
