// Communicators of the NCCL interface that are made from others: splits, shrinks and grows.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "comm/start.h"
#include "nccl/group.h"
#include "nccl/result.h"
#include "nccl/start.h"
#include "tutti/communicator.h"

namespace tutti::nccl {
namespace {

using State = ncclComm::State;

// A communicator in the making; the handle is set where the program expects it.
Result<Making> derive(const ncclComm& parent, ncclComm_t* handle, const ncclConfig_t* given) {
  if (handle == nullptr) return invalid_argument("the place for the new communicator is NULL");
  *handle = nullptr;
  TUTTI_ASSIGN(const Config config, config_of(given, parent.config));
  Making making;
  making.comm = new_comm({.device = parent.device, .rank = 0, .size = 1}, config);
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
  TUTTI_ASSIGN(Making making, derive(*parent, newcomm, config));
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
  TUTTI_ASSIGN(Making making, derive(*parent, newcomm, config));
  const std::uint64_t moment = parent->shrinks.fetch_add(1, std::memory_order_relaxed);
  making.make = [parent, comm = making.comm, ranks, moment,
                 aborts = shrinking.flags == NCCL_SHRINK_ABORT]() -> Result<std::shared_ptr<comm::Side>> {
    if (aborts) {
      parent->side->end(Code::aborted, fmt::format("rank {} shrinks the communicator", parent->rank));
      parent->settle(std::chrono::seconds(5));
    }
    return seated(comm, comm::start_part(*parent->side, ranks, moment, parent->side->options().start_timeout));
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
