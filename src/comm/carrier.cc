#include "comm/carrier.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/rdma_devices.h"
#include "transport/ucx.h"

namespace tutti::comm {

namespace {

// Pairs of ranks on different hosts that UCX carries data between, and all such pairs.
struct Pairs {
  std::size_t ucx_count = 0;
  std::size_t count = 0;
};

Pairs count_pairs(std::span<const UcxStance> stances, std::span<const Rank> hosts) {
  Pairs pairs;
  for (std::size_t a = 0; a < stances.size(); ++a) {
    for (std::size_t b = a + 1; b < stances.size(); ++b) {
      if (hosts[a] == hosts[b]) continue;
      ++pairs.count;
      if (carrier_between(stances[a], stances[b]) == Carrier::ucx) ++pairs.ucx_count;
    }
  }
  return pairs;
}

}  // namespace

Result<UcxStance> stance_of(const UcxFacts& facts) {
  const bool is_demanded = facts.choice == TransportChoice::ucx;
  if (is_demanded && facts.is_encrypted) {
    return Status(
        Code::invalid_usage,
        "TUTTI_TRANSPORT=ucx sends data as it is, and this job is encrypted; unset one of TUTTI_TRANSPORT and "
        "TUTTI_ENCRYPT");
  }
  if (facts.choice == TransportChoice::tcp || facts.is_encrypted) return UcxStance::refused;
  if (is_demanded && !facts.library) return facts.library.while_doing("obeying TUTTI_TRANSPORT=ucx");
  if (!facts.library) return UcxStance::refused;
  if (is_demanded) return UcxStance::demanded;
  return facts.has_active_port ? UcxStance::welcome : UcxStance::possible;
}

Result<UcxStance> find_stance(TransportChoice choice, bool is_encrypted) {
  UcxFacts facts{.choice = choice, .is_encrypted = is_encrypted, .library = {}};
  facts.has_active_port = transport::has_active_port(transport::find_rdma_ports());
  const bool is_wanted =
      choice == TransportChoice::ucx || (choice == TransportChoice::automatic && facts.has_active_port);
  if ((is_wanted && !is_encrypted) || !transport::is_ucx_built()) facts.library = transport::try_ucx();
  return stance_of(facts);
}

std::string_view name_of(Carrier carrier) {
  switch (carrier) {
    case Carrier::tcp: return "TCP";
    case Carrier::ucx: return "UCX";
  }
  return "";
}

Carrier carrier_between(UcxStance here, UcxStance there) {
  const UcxStance weaker = std::min(here, there);
  const UcxStance stronger = std::max(here, there);
  const bool is_ucx =
      weaker >= UcxStance::welcome || (weaker == UcxStance::possible && stronger == UcxStance::demanded);
  return is_ucx ? Carrier::ucx : Carrier::tcp;
}

Status check_stances(std::span<const UcxStance> stances, std::span<const Rank> hosts) {
  for (std::size_t demanding = 0; demanding < stances.size(); ++demanding) {
    if (stances[demanding] != UcxStance::demanded) continue;
    for (std::size_t other = 0; other < stances.size(); ++other) {
      if (hosts[other] == hosts[demanding] || stances[other] != UcxStance::refused) continue;
      return {
          Code::invalid_usage,
          fmt::format("rank {} demands UCX (TUTTI_TRANSPORT=ucx) and rank {} cannot or may not use it; give all ranks "
                      "the same TUTTI_TRANSPORT, and look at 'tutti check' on the host of rank {}",
                      demanding, other, other)};
    }
  }
  return {};
}

std::string carriers_text(std::span<const UcxStance> stances, std::span<const Rank> hosts) {
  const Pairs pairs = count_pairs(stances, hosts);
  if (pairs.ucx_count == 0) return "TCP carries data between hosts";
  const std::string version = transport::ucx_version();
  if (pairs.ucx_count == pairs.count) return fmt::format("UCX {} carries data between hosts", version);
  return fmt::format("UCX {} carries data between {} of {} pairs of ranks on different hosts, TCP between the others",
                     version, pairs.ucx_count, pairs.count);
}

}  // namespace tutti::comm
