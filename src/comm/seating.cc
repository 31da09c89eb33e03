#include "comm/seating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "comm/room.h"
#include "device/host/heap.h"

namespace tutti::comm {

namespace {

// Not against forgers: against slips.
std::uint64_t fingerprint_of(const CommunicatorOptions& options) {
  std::string text = options.algorithm;
  for (const AllowedAlgorithms& allowed : options.allowed) {
    text += fmt::format(";{}:{}", plan::name_of(allowed.collective), fmt::join(allowed.names, ","));
  }
  std::uint64_t sum = 14695981039346656037u;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return sum;
}

}  // namespace

Result<Introduction> introduce(const CommunicatorOptions& options, Membership& membership) {
  Introduction introduction;
  introduction.memory_limit = options.memory_limit;
  if (const auto layout = SideLayout::within(options.memory_limit, options.size)) {
    membership.layout = *layout;
    membership.own_bytes = layout->bytes();
    TUTTI_ASSIGN(membership.own, make_shared_room(membership.own_bytes));
    introduction.memory_at = *device::Heap::existing()->offset_of(membership.own.get(), membership.own_bytes);
  }
  introduction.algorithms = fingerprint_of(options);
  if (options.rank == 0) introduction.rates = measure_rates();
  return introduction;
}

Status compare(std::span<const Introduction> introductions) {
  for (std::size_t rank = 1; rank < introductions.size(); ++rank) {
    if (introductions[rank].memory_limit != introductions[0].memory_limit) {
      return Status(Code::invalid_usage,
                    fmt::format("rank 0 has a memory limit of {} bytes and rank {} one of {} (0: none); give all ranks "
                                "the same (TUTTI_MEMORY_LIMIT, or what the program says)",
                                introductions[0].memory_limit, rank, introductions[rank].memory_limit));
    }
    if (introductions[rank].algorithms == introductions[0].algorithms) continue;
    return Status(Code::invalid_usage, fmt::format("rank 0 and rank {} were told to use different algorithms; give all "
                                                   "ranks the same (CommunicatorOptions, NCCL_ALGO)",
                                                   rank));
  }
  return SideLayout::within(introductions[0].memory_limit, static_cast<Rank>(introductions.size())).status();
}

Bytes pack(const Introduction& introduction, std::span<const std::byte> card) {
  Bytes bytes(sizeof(introduction) + card.size());
  std::memcpy(bytes.data(), &introduction, sizeof(introduction));
  std::copy(card.begin(), card.end(), bytes.begin() + sizeof(introduction));
  return bytes;
}

Result<Introduced> parse_introduction(std::span<const std::byte> bytes, Rank rank) {
  if (bytes.size() < sizeof(Introduction)) {
    return Status(Code::invalid_usage,
                  fmt::format("rank {} introduces itself in {} bytes; is it of another version?", rank, bytes.size()));
  }
  Introduced introduced;
  std::memcpy(&introduced.introduction, bytes.data(), sizeof(Introduction));
  if (!introduced.introduction.network.is_sane()) introduced.introduction.network = {};
  introduced.card.assign(bytes.begin() + sizeof(Introduction), bytes.end());
  return introduced;
}

namespace {

// Nobody's word is enough to write outside its heap.
Status validate(const Introduction& introduction, const transport::Process& process, std::size_t bytes, Rank rank) {
  if (introduction.memory_at % transport::kLine == 0 && bytes <= process.heap_bytes() &&
      introduction.memory_at <= process.heap_bytes() - bytes) {
    return {};
  }
  return Status(
      Code::invalid_usage,
      fmt::format("rank {} (pid {}) names memory outside its heap; is it of another version?", rank, process.pid()));
}

}  // namespace

Status seat(Membership& membership, Rank rank, const std::shared_ptr<const transport::Process>& process,
            const Introduction& introduction) {
  TUTTI_TRY(validate(introduction, *process, membership.layout.bytes(), rank));
  membership.memories.push_back(process->heap() + introduction.memory_at);
  membership.peers.push_back({.rank = rank,
                              .pid = process->pid(),
                              .host = process->host(),
                              .is_same_process = process->is_self(),
                              .can_pull = process->can_pull(),
                              .heap = process->heap(),
                              .heap_bytes = process->heap_bytes(),
                              .is_alive = [process] { return process->is_alive(); }});
  return {};
}

planner::LocalMachine machine_of(const LocalRates& rates, Rank ranks, bool can_pull) {
  planner::LocalMachine machine = with_rates(rates);
  machine.ranks = ranks;
  machine.can_pull = can_pull;
  if (ranks > 1) machine.flash_bytes = transport::kFlashBytesMax;
  return machine;
}

bool can_all_pull(const std::vector<transport::Member>& members) {
  return std::all_of(members.begin(), members.end(),
                     [](const auto& member) { return member.is_remote || member.is_same_process || member.can_pull; });
}

}  // namespace tutti::comm
