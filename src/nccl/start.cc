// How communicators of the NCCL interface come into being.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "comm/start.h"
#include "device/host/devices.h"
#include "nccl/environment.h"
#include "nccl/group.h"
#include "nccl/result.h"
#include "nccl/start.h"
#include "tutti/communicator.h"

namespace tutti::nccl {

using device::Devices;

namespace {

thread_local std::chrono::nanoseconds start_timeout{0};
thread_local std::size_t memory_limit = 0;

}  // namespace

void set_start_timeout(std::chrono::nanoseconds timeout) { start_timeout = timeout; }
void set_memory_limit(std::size_t bytes) { memory_limit = bytes; }

Result<Identifier> identifier_of(const ncclUniqueId& id) {
  auto identifier = Identifier::of(std::as_bytes(std::span(id.internal)));
  if (identifier) return identifier;
  return identifier.status().while_doing(
      "reading the ncclUniqueId; get one by ncclGetUniqueId on one rank and hand all "
      "of its 128 bytes to the others");
}

Status validate_place(int rank, int size) {
  if (size < 1) return invalid_argument(fmt::format("a communicator has 1 rank or more, not {}", size));
  if (rank < 0 || rank >= size) return invalid_argument(fmt::format("rank {} is not one of {} ranks", rank, size));
  return {};
}

Result<CommunicatorOptions> standard_options() {
  TUTTI_ASSIGN(const Environment environment, environment_of_process());
  CommunicatorOptions options;
  apply(environment, options);
  options.start_timeout = start_timeout;
  options.memory_limit = memory_limit;
  return options;
}

CommRef new_comm(const Place& place, const Config& config) {
  auto comm = std::make_shared<ncclComm>();
  comm->device = place.device;
  comm->rank = place.rank;
  comm->size = place.size;
  comm->config = config;
  return comm;
}

ncclResult_t start(std::string_view call, ncclComm_t* handle, const Starting& starting) {
  Making making;
  const Status status = [&]() -> Status {
    if (handle == nullptr) return invalid_argument("the place for the communicator is NULL");
    *handle = nullptr;
    TUTTI_TRY(Devices::of_process().check_any());
    TUTTI_TRY(validate_place(starting.place.rank, starting.place.size));
    TUTTI_ASSIGN(const Identifier identifier, identifier_of(starting.id));
    TUTTI_ASSIGN(const Config standard, standard_config());
    TUTTI_ASSIGN(const Config config, config_of(starting.config, standard));
    making.comm = new_comm(starting.place, config);
    making.identifier = identifier;
    TUTTI_ASSIGN(CommunicatorOptions options, standard_options());
    options.rank = starting.place.rank;
    options.size = starting.place.size;
    options.store = "tcp:" + identifier.text();
    making.options = options;
    making.make = [options, comm = making.comm]() -> Result<std::shared_ptr<comm::Side>> {
      TUTTI_ASSIGN(auto side, comm::start(options, {}, &comm->recall));
      return std::shared_ptr<comm::Side>(std::move(side));
    };
    *handle = publish(making.comm);
    return {};
  }();
  if (!status) {
    spoil_group(status);
    return refuse(call, status);
  }
  const ncclResult_t result = begin(std::move(making));
  if (result != ncclSuccess && result != ncclInProgress) {
    withdraw(*handle);
    *handle = nullptr;
  }
  return result;
}

}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(GetUniqueId, (ncclUniqueId * uniqueId)) {
  return answer("ncclGetUniqueId", [&]() -> Status {
    if (uniqueId == nullptr) return tutti::invalid_argument("the place for the identifier is NULL");
    TUTTI_ASSIGN(const Environment environment, environment_of_process());
    const std::string& address = environment.meeting_address;
    TUTTI_ASSIGN(const tutti::Identifier identifier,
                 address.empty() ? tutti::Identifier::create() : tutti::Identifier::of_address(address));
    static_assert(sizeof(uniqueId->internal) == tutti::Identifier::kBytes);
    std::memcpy(uniqueId->internal, identifier.bytes().data(), sizeof(uniqueId->internal));
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommInitRankConfig,
                  (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config)) {
  const int device = Devices::of_process().current();
  return start("ncclCommInitRankConfig", comm,
               {.place = {.device = device, .rank = rank, .size = nranks}, .id = commId, .config = config});
}

TUTTI_NCCL_DEFINE(CommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank)) {
  const int device = Devices::of_process().current();
  return start("ncclCommInitRank", comm,
               {.place = {.device = device, .rank = rank, .size = nranks}, .id = commId, .config = nullptr});
}

// One meeting point serves any number of ranks, so the first identifier is enough. All ranks have the same list.
TUTTI_NCCL_DEFINE(CommInitRankScalable,
                  (ncclComm_t * comm, int nranks, int myrank, int nId, ncclUniqueId* commIds, ncclConfig_t* config)) {
  if (nId < 1 || nId > nranks || commIds == nullptr)
    return refuse(
        "ncclCommInitRankScalable",
        tutti::invalid_argument(fmt::format(
            "{} identifiers{} for {} ranks; it takes 1 to as many as there are ranks, the same on all of them", nId,
            commIds == nullptr ? ", a list that is NULL," : "", nranks)));
  const int device = Devices::of_process().current();
  return start("ncclCommInitRankScalable", comm,
               {.place = {.device = device, .rank = myrank, .size = nranks}, .id = commIds[0], .config = config});
}

TUTTI_NCCL_DEFINE(CommInitAll, (ncclComm_t * comms, int ndev, const int* devlist)) {
  return answer("ncclCommInitAll", [&]() -> Status {
    TUTTI_TRY(Devices::of_process().check_any());
    const int count = Devices::of_process().count();
    if (comms == nullptr) return tutti::invalid_argument("the place for the communicators is NULL");
    if (ndev < 1) return tutti::invalid_argument(fmt::format("{} devices were asked for; at least 1", ndev));
    if (devlist == nullptr && ndev > count)
      return tutti::invalid_argument(
          fmt::format("{} devices were asked for and {} are there; TUTTI_VIRTUAL_DEVICES says how many", ndev, count));
    std::vector<int> devices(static_cast<std::size_t>(ndev));
    std::iota(devices.begin(), devices.end(), 0);
    if (devlist != nullptr) devices.assign(devlist, devlist + ndev);
    for (const int device : devices) {
      if (device >= 0 && device < count) continue;
      return tutti::invalid_argument(fmt::format("device {} of the list is not one of {} devices", device, count));
    }
    TUTTI_ASSIGN(const Config config, standard_config());
    TUTTI_ASSIGN(const tutti::CommunicatorOptions options, standard_options());
    TUTTI_ASSIGN(auto sides, tutti::comm::start_local(ndev, options));
    for (int rank = 0; rank < ndev; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const CommRef comm = new_comm({.device = devices[at], .rank = rank, .size = ndev}, config);
      comm->side = std::move(sides[at]);
      comm->state.store(ncclComm::State::ready, std::memory_order_release);
      comms[rank] = publish(comm);
    }
    return {};
  });
}
