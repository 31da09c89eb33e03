#include "plan/check/promise.h"

namespace tutti::plan {

namespace {

Rank block_of(const Header& plan, std::uint32_t chunk) {
  return static_cast<Rank>(chunk / (plan.chunks / static_cast<std::uint32_t>(plan.ranks)));
}

}  // namespace

bool has_chunk(const Header& plan, Rank owner, Buffer buffer, std::uint32_t chunk) {
  if (chunk >= plan.chunks) return false;
  const bool is_in = buffer == Buffer::in;
  switch (plan.collective) {
    case Collective::all_reduce:
    case Collective::all_to_all: return true;
    case Collective::all_gather: return !is_in || block_of(plan, chunk) == owner;
    case Collective::reduce_scatter: return is_in || block_of(plan, chunk) == owner;
    case Collective::broadcast: return !is_in || owner == plan.root;
    case Collective::reduce: return is_in || owner == plan.root;
    case Collective::gather: return is_in ? block_of(plan, chunk) == owner : owner == plan.root;
    case Collective::scatter: return is_in ? owner == plan.root : block_of(plan, chunk) == owner;
    case Collective::send_receive: return owner == (is_in ? plan.root : plan.peer);
    case Collective::barrier: return false;
  }
  return false;
}

Promise promise_of(const Header& plan, Rank owner, std::uint32_t chunk) {
  switch (plan.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::reduce: return {chunk, kNoRank};
    case Collective::all_gather:
    case Collective::gather: return {chunk, block_of(plan, chunk)};
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::send_receive: return {chunk, plan.root};
    case Collective::all_to_all: {
      const std::uint32_t parts = plan.chunks / static_cast<std::uint32_t>(plan.ranks);
      return {static_cast<std::uint32_t>(owner) * parts + chunk % parts, block_of(plan, chunk)};
    }
    case Collective::barrier: break;
  }
  return {chunk, kNoRank};
}

}  // namespace tutti::plan
