#include "tools/perf/collective.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tools/perf/failure.h"
#include "tools/perf/pattern.h"

namespace tutti::perf {

namespace {

constexpr int kAllRanks = Pattern::kAllRanks;

std::uint64_t elements_of(const Shape& shape) { return shape.bytes / shape.element_bytes; }

// A block of each rank: blocks are multiples of 16 bytes.
std::uint64_t block_of(const Shape& shape) {
  const std::uint64_t alignment = 16 / shape.element_bytes;
  return elements_of(shape) / static_cast<std::uint64_t>(shape.ranks) / alignment * alignment;
}

std::uint64_t times_ranks(const Shape& shape, std::uint64_t count) {
  return count * static_cast<std::uint64_t>(shape.ranks);
}

std::byte* at(const void* buffer, std::uint64_t element, const CallSite& call) {
  return static_cast<std::byte*>(const_cast<void*>(buffer)) + element * call.type->bytes;
}

// Layouts: the whole on every rank, blocks that are gathered, blocks that are scattered, blocks both ways.
Layout whole(const Shape& shape) {
  const std::uint64_t count = elements_of(shape);
  return {.call_count = count, .send_count = count, .receive_count = count};
}

Layout gathered(const Shape& shape) {
  const std::uint64_t block = block_of(shape);
  return {.call_count = block, .send_count = block, .receive_count = times_ranks(shape, block), .send_offset = block};
}

Layout scattered(const Shape& shape) {
  const std::uint64_t block = block_of(shape);
  return {
      .call_count = block, .send_count = times_ranks(shape, block), .receive_count = block, .receive_offset = block};
}

Layout exchanged(const Shape& shape) {
  const std::uint64_t block = block_of(shape);
  return {.call_count = block, .send_count = times_ranks(shape, block), .receive_count = times_ranks(shape, block)};
}

std::uint64_t traffic_total(const Shape& shape) { return times_ranks(shape, block_of(shape)) * shape.element_bytes; }

Layout exchanged_by_traffic(const Shape& shape) {
  const std::uint64_t largest = shape.traffic->largest_bytes(shape.ranks, traffic_total(shape)) / shape.element_bytes;
  return {
      .call_count = shape.traffic->is_fixed() ? 0 : block_of(shape), .send_count = largest, .receive_count = largest};
}

// What ranks receive.
std::vector<Piece> reduced_everywhere(const Shape& shape, int, int) { return {{0, elements_of(shape), kAllRanks, 0}}; }

std::vector<Piece> reduced_at_root(const Shape& shape, int rank, int root) {
  if (rank != root) return {};
  return reduced_everywhere(shape, rank, root);
}

std::vector<Piece> reduced_blocks(const Shape& shape, int rank, int) {
  const std::uint64_t block = block_of(shape);
  return {{0, block, kAllRanks, static_cast<std::uint64_t>(rank) * block}};
}

std::vector<Piece> blocks_of_all(const Shape& shape, int, int) {
  std::vector<Piece> pieces;
  const std::uint64_t block = block_of(shape);
  for (int source = 0; source < shape.ranks; ++source)
    pieces.push_back({static_cast<std::uint64_t>(source) * block, block, source, 0});
  return pieces;
}

std::vector<Piece> blocks_at_root(const Shape& shape, int rank, int root) {
  if (rank != root) return {};
  return blocks_of_all(shape, rank, root);
}

std::vector<Piece> copy_of_root(const Shape& shape, int, int root) { return {{0, elements_of(shape), root, 0}}; }

std::vector<Piece> block_of_root(const Shape& shape, int rank, int root) {
  const std::uint64_t block = block_of(shape);
  return {{0, block, root, static_cast<std::uint64_t>(rank) * block}};
}

std::vector<Piece> block_of_each(const Shape& shape, int rank, int) {
  std::vector<Piece> pieces;
  const std::uint64_t block = block_of(shape);
  for (int source = 0; source < shape.ranks; ++source)
    pieces.push_back(
        {static_cast<std::uint64_t>(source) * block, block, source, static_cast<std::uint64_t>(rank) * block});
  return pieces;
}

std::vector<Piece> share_of_each(const Shape& shape, int rank, int) {
  const std::uint64_t total = traffic_total(shape);
  std::vector<Piece> pieces;
  std::uint64_t received = 0;
  for (int source = 0; source < shape.ranks; ++source) {
    std::uint64_t before = 0;
    for (int target = 0; target < rank; ++target) before += shape.traffic->bytes(source, target, shape.ranks, total);
    const std::uint64_t count = shape.traffic->bytes(source, rank, shape.ranks, total) / shape.element_bytes;
    pieces.push_back({received, count, source, before / shape.element_bytes});
    received += count;
  }
  return pieces;
}

std::vector<Piece> copy_of_previous(const Shape& shape, int rank, int) {
  return {{0, elements_of(shape), (rank + shape.ranks - 1) % shape.ranks, 0}};
}

// Calls.
Status all_reduce(const CallSite& call) {
  return of_nccl(
      ncclAllReduce(call.send, call.receive, call.count, call.type->nccl, call.operation, call.comm, call.stream),
      "ncclAllReduce", call.comm);
}

Status reduce(const CallSite& call) {
  return of_nccl(ncclReduce(call.send, call.receive, call.count, call.type->nccl, call.operation, call.root, call.comm,
                            call.stream),
                 "ncclReduce", call.comm);
}

Status reduce_scatter(const CallSite& call) {
  return of_nccl(
      ncclReduceScatter(call.send, call.receive, call.count, call.type->nccl, call.operation, call.comm, call.stream),
      "ncclReduceScatter", call.comm);
}

Status all_gather(const CallSite& call) {
  return of_nccl(ncclAllGather(call.send, call.receive, call.count, call.type->nccl, call.comm, call.stream),
                 "ncclAllGather", call.comm);
}

Status broadcast(const CallSite& call) {
  return of_nccl(ncclBroadcast(call.send, call.receive, call.count, call.type->nccl, call.root, call.comm, call.stream),
                 "ncclBroadcast", call.comm);
}

Status alltoall(const CallSite& call) {
  return of_nccl(ncclAlltoAll(call.send, call.receive, call.count, call.type->nccl, call.comm, call.stream),
                 "ncclAlltoAll", call.comm);
}

Status scatter(const CallSite& call) {
  return of_nccl(ncclScatter(call.send, call.receive, call.count, call.type->nccl, call.root, call.comm, call.stream),
                 "ncclScatter", call.comm);
}

Status gather(const CallSite& call) {
  return of_nccl(ncclGather(call.send, call.receive, call.count, call.type->nccl, call.root, call.comm, call.stream),
                 "ncclGather", call.comm);
}

Status send(const CallSite& call, const void* from, std::uint64_t count, int peer) {
  return of_nccl(ncclSend(from, count, call.type->nccl, peer, call.comm, call.stream), "ncclSend", call.comm);
}

Status receive(const CallSite& call, void* to, std::uint64_t count, int peer) {
  return of_nccl(ncclRecv(to, count, call.type->nccl, peer, call.comm, call.stream), "ncclRecv", call.comm);
}

Status end_group() { return of_nccl(ncclGroupEnd(), "ncclGroupEnd"); }

Status sendrecv(const CallSite& call) {
  const int ranks = call.shape->ranks;
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  TUTTI_TRY(send(call, call.send, call.count, (call.rank + 1) % ranks));
  TUTTI_TRY(receive(call, call.receive, call.count, (call.rank + ranks - 1) % ranks));
  return end_group();
}

Status alltoallv(const CallSite& call) {
  const Shape& shape = *call.shape;
  const std::uint64_t total = traffic_total(shape);
  const std::byte* from = at(call.send, 0, call);
  std::byte* to = at(call.receive, 0, call);
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (int peer = 0; peer < shape.ranks; ++peer) {
    const std::uint64_t sent = shape.traffic->bytes(call.rank, peer, shape.ranks, total);
    const std::uint64_t received = shape.traffic->bytes(peer, call.rank, shape.ranks, total);
    if (sent > 0) TUTTI_TRY(send(call, from, sent / shape.element_bytes, peer));
    if (received > 0) TUTTI_TRY(receive(call, to, received / shape.element_bytes, peer));
    from += sent;
    to += received;
  }
  return end_group();
}

// An all-gather in which the blocks that a rank has double with every round.
Status hypercube(const CallSite& call) {
  std::byte* own = at(call.receive, static_cast<std::uint64_t>(call.rank) * call.count, call);
  if (call.round == 0 && own != call.send) {
    TUTTI_TRY(
        of_cuda(cudaMemcpyAsync(own, call.send, call.count * call.type->bytes, cudaMemcpyDeviceToDevice, call.stream),
                "cudaMemcpyAsync"));
  }
  if (call.shape->ranks == 1) return {};
  const int mask = 1 << call.round;
  const int peer = call.rank ^ mask;
  const auto mine = static_cast<std::uint64_t>(call.rank & ~(mask - 1));
  const auto theirs = static_cast<std::uint64_t>(peer & ~(mask - 1));
  const std::uint64_t count = call.count * static_cast<std::uint64_t>(mask);
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  TUTTI_TRY(send(call, at(call.receive, mine * call.count, call), count, peer));
  TUTTI_TRY(receive(call, at(call.receive, theirs * call.count, call), count, peer));
  return end_group();
}

int one_round(int) { return 1; }
int doubling_rounds(int ranks) {
  return std::max(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1, 1);
}

// Bandwidths.
double all_bytes(const Shape& shape) {
  return static_cast<double>(elements_of(shape)) * static_cast<double>(shape.element_bytes);
}

double all_blocks(const Shape& shape) {
  return static_cast<double>(times_ranks(shape, block_of(shape))) * static_cast<double>(shape.element_bytes);
}

double blocks_of_others(const Shape& shape) {
  return static_cast<double>(block_of(shape)) * static_cast<double>(shape.element_bytes) * (shape.ranks - 1);
}

double largest_share(const Shape& shape) {
  return static_cast<double>(shape.traffic->largest_bytes(shape.ranks, traffic_total(shape)));
}

double one(int) { return 1; }
double others_of_all(int ranks) { return static_cast<double>(ranks - 1) / ranks; }
double twice_others_of_all(int ranks) { return 2 * others_of_all(ranks); }

constexpr std::array kCollectives = {
    Collective{"all_reduce", "none", true, false, true, whole, reduced_everywhere, one_round, all_reduce, all_bytes,
               twice_others_of_all},
    Collective{"all_gather", "none", false, false, true, gathered, blocks_of_all, one_round, all_gather, all_blocks,
               others_of_all},
    Collective{"broadcast", "none", false, true, true, whole, copy_of_root, one_round, broadcast, all_bytes, one},
    Collective{"reduce_scatter", "none", true, false, true, scattered, reduced_blocks, one_round, reduce_scatter,
               all_blocks, others_of_all},
    Collective{"reduce", "none", true, true, true, whole, reduced_at_root, one_round, reduce, all_bytes, one},
    Collective{"alltoall", "none", false, false, false, exchanged, block_of_each, one_round, alltoall, all_blocks,
               others_of_all},
    Collective{"alltoallv", "none", false, false, false, exchanged_by_traffic, share_of_each, one_round, alltoallv,
               largest_share, others_of_all},
    Collective{"scatter", "none", false, true, true, scattered, block_of_root, one_round, scatter, all_blocks,
               others_of_all},
    Collective{"gather", "none", false, true, true, gathered, blocks_at_root, one_round, gather, all_blocks,
               others_of_all},
    Collective{"sendrecv", "sum", false, false, false, whole, copy_of_previous, one_round, sendrecv, all_bytes, one},
    Collective{"hypercube", "", false, false, true, gathered, blocks_of_all, doubling_rounds, hypercube,
               blocks_of_others, one},
};

}  // namespace

std::span<const Collective> collectives() { return kCollectives; }

const Collective* find_collective(std::string_view name) {
  if (name.ends_with("_perf")) name.remove_suffix(5);
  for (const Collective& collective : kCollectives) {
    if (collective.name == name) return &collective;
  }
  return nullptr;
}

}  // namespace tutti::perf
