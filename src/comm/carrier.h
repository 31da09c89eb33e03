// What carries data between two hosts: TCP, or UCX where both have cards for it. Each side finds the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/knobs.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::comm {

// How a rank stands to UCX, as it tells the others.
enum class UcxStance : std::uint8_t {
  refused,   // not in its build, its library is missing, or forbidden
  possible,  // but without a card it has no advantage over TCP
  welcome,   // there is a card with a network on it
  demanded,  // by TUTTI_TRANSPORT=ucx
};
inline constexpr std::uint8_t kUcxStances = 4;

// What a rank knows of itself. Pure.
struct UcxFacts {
  TransportChoice choice = TransportChoice::automatic;
  bool has_active_port = false;
  bool is_encrypted = false;  // the job: UCX would carry what nobody may read
  Status library;             // of trying to load UCX; looked at only where it would be used
};
Result<UcxStance> stance_of(const UcxFacts& facts);
// The same of this process. UCX is loaded only where there is a reason to.
Result<UcxStance> find_stance(TransportChoice choice, bool is_encrypted);

enum class Carrier : std::uint8_t { tcp, ucx };
std::string_view name_of(Carrier carrier);
Carrier carrier_between(UcxStance here, UcxStance there);

// Fails where one demands what another refuses; both are on other hosts than each other.
Status check_stances(std::span<const UcxStance> stances, std::span<const Rank> hosts);
// For people: "UCX carries data between hosts", or between some of them.
std::string carriers_text(std::span<const UcxStance> stances, std::span<const Rank> hosts);

}  // namespace tutti::comm
