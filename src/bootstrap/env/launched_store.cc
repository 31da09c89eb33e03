#include "bootstrap/env/launched_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "bootstrap/env/local_store.h"
#include "bootstrap/env/meeting_store.h"
#include "bootstrap/env/pmi_client.h"
#include "bootstrap/env/pmix.h"
#include "bootstrap/exchange.h"
#include "bootstrap/fixed_address.h"
#include "bootstrap/store/process_store.h"
#include "os/environment.h"
#include "os/machine.h"

namespace tutti::bootstrap {
namespace {

// TUTTI_STORE: an address of a store, or "tcp:host:port", which needs no identifier.
Result<std::unique_ptr<Store>> open_chosen(const Launch& launch, Deadline deadline) {
  constexpr std::string_view kTcp = "tcp:";
  if (const std::string_view address = launch.store; address.starts_with(kTcp)) {
    if (const std::string_view place = address.substr(kTcp.size()); parse_fixed_address(place)) {
      return open_store_at(std::string(place), launch.rank, deadline);
    }
  }
  return open_store(launch.store, launch.rank, deadline);
}

Result<std::unique_ptr<Store>> open_by_pmi(const Launch& launch, Deadline deadline) {
  const auto broadcast = [&](std::string_view text) {
    return broadcast_by_pmi(launch.pmi_descriptor, launch.rank, text, deadline);
  };
  return open_broadcast_store(launch.rank, broadcast, deadline);
}

Result<std::unique_ptr<Store>> open_by_pmix(const Launch& launch, Deadline deadline) {
  const auto broadcast = [&](std::string_view text) { return broadcast_by_pmix(launch.rank, text, deadline); };
  return open_broadcast_store(launch.rank, broadcast, deadline);
}

Status no_way(const std::vector<std::string>& reasons) {
  const std::string tried = reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, "; "));
  return {Code::unsupported, fmt::format("it gives them no way to do so that works here{}; set TUTTI_STORE for all of "
                                         "them, such as tcp:HOST:PORT with rank 0's host and a free port",
                                         tried)};
}

Result<std::unique_ptr<Store>> open(const Launch& launch, Deadline deadline) {
  if (launch.size == 1) return create_process_store();
  if (!launch.store.empty()) return open_chosen(launch, deadline);
  if (launch.is_on_one_host() && !launch.job.empty()) {
    const std::string root = os::environment_variable("TMPDIR").value_or("/tmp");
    return open_local_store(launch.job, launch.rank, root, deadline);
  }
  std::vector<std::string> reasons;
  if (launch.pmi_descriptor >= 0) {
    const Status status = validate_pmi(launch.pmi_descriptor);
    if (status) return open_by_pmi(launch, deadline);
    reasons.emplace_back(status.text());
  }
  if (launch.has_pmix) {
    const Status status = validate_pmix();
    if (status) return open_by_pmix(launch, deadline);
    reasons.emplace_back(status.text());
  }
  if (!launch.address.empty()) return open_store_at(launch.address, launch.rank, deadline);
  return no_way(reasons);
}

// Containers of one machine share the first, hosts with the same name the second.
std::string host_mark() {
  const os::Machine& machine = os::this_machine();
  return fmt::format("{} {}", machine.boot_id, machine.host);
}

}  // namespace

Result<std::unique_ptr<Store>> open_launched_store(const Launch& launch, Deadline deadline) {
  auto store = open(launch, deadline);
  if (store) return store;
  return store.status().while_doing(
      fmt::format("meeting the other processes of a job that {} started", launch.launcher));
}

Status find_local_place(Launch& launch, Store& store, Deadline deadline) {
  if (launch.has_local_place) return {};
  const std::string mine = host_mark();
  TUTTI_ASSIGN(const auto marks,
               exchange(store, "hosts of the job", launch.rank, launch.size, bytes_of(mine), deadline));
  launch.local_size = 0;
  for (Rank rank = 0; rank < launch.size; ++rank) {
    if (text_of(marks[static_cast<std::size_t>(rank)]) != mine) continue;
    if (rank == launch.rank) launch.local_rank = launch.local_size;
    ++launch.local_size;
  }
  launch.has_local_place = true;
  return {};
}

}  // namespace tutti::bootstrap
