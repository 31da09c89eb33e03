// Communicators of the NCCL interface that are made from others: splits, shrinks and grows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "comm/start.h"
#include "device/host/devices.h"
#include "nccl/group.h"
#include "nccl/result.h"
#include "nccl/start.h"
#include "tutti/communicator.h"

namespace tutti::nccl {
namespace {

using State = ncclComm::State;

// A communicator in the making; the handle is set where the program expects it.
Result<Making> derive(const CommRef& parent, ncclComm_t* handle, const ncclConfig_t* given) {
  if (handle == nullptr) return invalid_argument("the place for the new communicator is NULL");
  *handle = nullptr;
  TUTTI_ASSIGN(const Config config, config_of(given, parent->config));
  Making making;
  making.comm = new_comm({.device = parent->device, .rank = 0, .size = 1}, config);
  making.parent = parent;
  making.comm->has_parent = true;
  return making;
}

Result<std::shared_ptr<comm::Side>> seated(const CommRef& comm, Result<std::unique_ptr<comm::Side>> side) {
  if (!side) return side.status();
  if (*side == nullptr) return std::shared_ptr<comm::Side>();  // a rank without a colour
  comm->rank = (*side)->rank();
  comm->size = (*side)->size();
  return std::shared_ptr<comm::Side>(*std::move(side));
}

ncclResult_t finish(std::string_view call, ncclComm_t* handle, Result<Making> making) {
  if (!making) {
    spoil_group(making.status());
    return refuse(call, making.status());
  }
  const CommRef comm = making->comm;
  // A rank without a colour takes part in the vote, and gets nothing.
  if (!making->is_wanted) return begin(*std::move(making));
  *handle = publish(comm);
  const ncclResult_t result = begin(*std::move(making));
  const bool has_failed = comm->state.load(std::memory_order_acquire) == State::failed;
  if (has_failed || (result != ncclSuccess && result != ncclInProgress)) {
    withdraw(*handle);
    *handle = nullptr;
  }
  return result;
}

Result<Making> split(ncclComm_t handle, int color, int key, ncclComm_t* newcomm, const ncclConfig_t* config) {
  TUTTI_ASSIGN(const CommRef parent, find(handle));
  TUTTI_TRY(parent->readiness());
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
    return invalid_argument(fmt::format("colour {} is neither 0 or more nor NCCL_SPLIT_NOCOLOR", color));
  TUTTI_ASSIGN(Making making, derive(parent, newcomm, config));
  making.is_wanted = color != NCCL_SPLIT_NOCOLOR;
  making.make = [parent, comm = making.comm, color, key] {
    return seated(comm, comm::start_split(*parent->side, color, key));
  };
  return making;
}

Result<std::vector<Rank>> others_than(const ncclComm& parent, const int* excluded, int count) {
  if (count < 1 || count >= parent.size || excluded == nullptr)
    return invalid_argument(
        fmt::format("{} ranks are excluded; it takes 1 to {} in a list that is not NULL", count, parent.size - 1));
  const std::set<Rank> out(excluded, excluded + count);
  if (*out.begin() < 0 || *out.rbegin() >= parent.size || static_cast<int>(out.size()) != count)
    return invalid_argument(
        fmt::format("the list of excluded ranks has one twice, or one that is not of {}", parent.size));
  if (out.contains(parent.rank))
    return Status(Code::invalid_usage,
                  fmt::format("rank {} excludes itself; only ranks that go on call ncclCommShrink", parent.rank));
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < parent.size; ++rank)
    if (!out.contains(rank)) ranks.push_back(rank);
  return ranks;
}

struct Shrinking {
  const int* excluded;
  int count;
  int flags;
};

Result<Making> shrink(ncclComm_t handle, const Shrinking& shrinking, ncclComm_t* newcomm, const ncclConfig_t* config) {
  TUTTI_ASSIGN(const CommRef parent, find(handle));
  const State state = parent->state.load(std::memory_order_acquire);
  if (state == State::starting || parent->side == nullptr) return parent->readiness();
  if ((shrinking.flags & ~NCCL_SHRINK_ABORT) != 0)
    return invalid_argument(
        fmt::format("shrinkFlags is {:#x}; NCCL_SHRINK_DEFAULT and NCCL_SHRINK_ABORT exist", shrinking.flags));
  TUTTI_ASSIGN(const std::vector<Rank> ranks, others_than(*parent, shrinking.excluded, shrinking.count));
  if (shrinking.flags == NCCL_SHRINK_DEFAULT && parent->side->has_ended())
    return Status(Code::invalid_usage, fmt::format("the communicator has ended ({}); shrink it with NCCL_SHRINK_ABORT",
                                                   parent->side->why_ended().text()));
  TUTTI_ASSIGN(Making making, derive(parent, newcomm, config));
  std::uint64_t moment = 0;
  {
    const std::lock_guard lock(parent->mutex);
    moment = parent->shrinks[ranks]++;
  }
  making.make = [parent, comm = making.comm, ranks, moment,
                 aborts = shrinking.flags == NCCL_SHRINK_ABORT]() -> Result<std::shared_ptr<comm::Side>> {
    if (aborts) {
      parent->side->end(Code::aborted, fmt::format("rank {} shrinks the communicator", parent->rank));
      parent->settle(std::chrono::seconds(5));
    }
    return seated(comm,
                  comm::start_part(*parent->side, ranks, moment, parent->side->options().start_timeout, &comm->recall));
  };
  return making;
}

// What a rank tells the others when a communicator grows: the identifier, where it has it.
struct Offer {
  std::uint8_t has_identifier = 0;
  std::array<std::byte, Identifier::kBytes> identifier = {};
};

// One of the ranks has it.
Result<Identifier> share_identifier(comm::Side& parent, const std::optional<Identifier>& own) {
  Offer mine;
  if (own) {
    mine.has_identifier = 1;
    std::ranges::copy(own->bytes(), mine.identifier.begin());
  }
  std::vector<Offer> all(static_cast<std::size_t>(parent.size()));
  const Call call{.collective = plan::Collective::all_gather,
                  .in = &mine,
                  .out = all.data(),
                  .count = sizeof(Offer),
                  .type = DataType::uint8};
  TUTTI_TRY(parent.run(call));
  const auto found = std::ranges::find(all, 1, &Offer::has_identifier);
  if (found == all.end())
    return Status(Code::invalid_usage,
                  "no rank has given an identifier; one of them gets it by ncclCommGetUniqueId and passes it on");
  return Identifier::of(found->identifier);
}

struct Growing {
  int size;
  const ncclUniqueId* id;
  int rank;
};

// Of a rank that is in already; newcomers start as if it were new.
Result<Making> grow(ncclComm_t handle, const Growing& growing, ncclComm_t* newcomm, const ncclConfig_t* config) {
  TUTTI_ASSIGN(const CommRef parent, find(handle));
  TUTTI_TRY(parent->readiness());
  if (growing.size <= parent->size)
    return invalid_argument(fmt::format("a communicator of {} ranks cannot grow to {}", parent->size, growing.size));
  if (growing.rank != -1 && growing.rank != parent->rank)
    return invalid_argument(
        fmt::format("rank {} of the communicator keeps its rank; give -1, not {}", parent->rank, growing.rank));
  std::optional<Identifier> own;
  if (growing.id != nullptr) {
    TUTTI_ASSIGN(own, identifier_of(*growing.id));
  }
  TUTTI_ASSIGN(Making making, derive(parent, newcomm, config));
  making.make = [parent, comm = making.comm, own, size = growing.size]() -> Result<std::shared_ptr<comm::Side>> {
    TUTTI_ASSIGN(const Identifier identifier, share_identifier(*parent->side, own));
    CommunicatorOptions options = parent->side->options();
    options.rank = parent->rank;
    options.size = size;
    options.store = "tcp:" + identifier.text();
    return seated(comm, comm::start(options, parent->side->network(), &comm->recall));
  };
  return making;
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(CommSplit, (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config)) {
  return finish("ncclCommSplit", newcomm, split(comm, color, key, newcomm, config));
}

TUTTI_NCCL_DEFINE(CommShrink, (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                               ncclConfig_t* config, int shrinkFlags)) {
  const Shrinking shrinking{.excluded = excludeRanksList, .count = excludeRanksCount, .flags = shrinkFlags};
  return finish("ncclCommShrink", newcomm, shrink(comm, shrinking, newcomm, config));
}

TUTTI_NCCL_DEFINE(CommGetUniqueId, (ncclComm_t handle, ncclUniqueId* uniqueId)) {
  return answer("ncclCommGetUniqueId", [&]() -> Status {
    if (uniqueId == nullptr) return tutti::invalid_argument("the place for the identifier is NULL");
    TUTTI_ASSIGN(const CommRef comm, find(handle));
    TUTTI_TRY(comm->readiness());
    TUTTI_ASSIGN(const tutti::Identifier identifier, tutti::Identifier::create());
    std::memcpy(uniqueId->internal, identifier.bytes().data(), sizeof(uniqueId->internal));
    return {};
  });
}

TUTTI_NCCL_DEFINE(CommGrow, (ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank, ncclComm_t* newcomm,
                             ncclConfig_t* config)) {
  if (comm != nullptr)
    return finish("ncclCommGrow", newcomm, grow(comm, {.size = nRanks, .id = uniqueId, .rank = rank}, newcomm, config));
  if (uniqueId == nullptr)
    return refuse("ncclCommGrow", tutti::invalid_argument("a newcomer needs the identifier that a rank of the "
                                                          "communicator got by ncclCommGetUniqueId"));
  const int device = tutti::device::Devices::of_process().current();
  return start("ncclCommGrow", newcomm,
               {.place = {.device = device, .rank = rank, .size = nRanks}, .id = *uniqueId, .config = config});
}
