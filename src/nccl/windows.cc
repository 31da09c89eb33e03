#include "nccl/windows.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "comm/notes.h"
#include "device/host/heap.h"

namespace tutti::nccl {
namespace {

// The signals of a rank are found like a window; windows are numbered from 1.
constexpr std::uint64_t kSignals = 0;
// Keeps the names of windows apart from those of parts, which are as good as random.
constexpr std::uint64_t kWindowNames = 0x77696e646f770000;

std::size_t place_in(Rank from, const SignalName& name) {
  const auto index = static_cast<std::size_t>(name.index);
  const auto context = static_cast<std::size_t>(name.context);
  return (static_cast<std::size_t>(from) * kSignalContexts + context) * kSignalIndices + index;
}

}  // namespace

Status validate_signal(const SignalName& name) {
  if (name.index < 0 || name.index >= kSignalIndices)
    return invalid_argument(fmt::format("signal {} is none; 0 to {} are", name.index, kSignalIndices - 1));
  if (name.context < 0 || name.context >= kSignalContexts)
    return invalid_argument(fmt::format("context {} is none; 0 to {} are", name.context, kSignalContexts - 1));
  return {};
}

// With an address for ranks of this process, and an offset in the heap for those of others.
Status OneSided::offer_place(std::uint64_t number, const void* data, std::size_t bytes) {
  const device::Heap* const heap = device::Heap::existing();
  const auto offset = heap == nullptr ? std::nullopt : heap->offset_of(data, bytes);
  Bytes note;
  append_number(note, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(data)));
  append_number(note, offset.value_or(0));
  append_number(note, static_cast<std::uint64_t>(offset ? 1 : 0));
  append_number(note, static_cast<std::uint64_t>(bytes));
  comm::offer(side_, kWindowNames + number, std::move(note));
  return {};
}

Status OneSided::make_signals() {
  if (signals_.size() != 0) return {};
  const std::size_t count = place_in(side_.size(), {});
  TUTTI_ASSIGN(signals_, allocate(count * sizeof(std::atomic<std::uint64_t>)));
  return offer_place(kSignals, signals_.data(), signals_.size());
}

Result<std::shared_ptr<Window>> OneSided::add(void* buffer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  TUTTI_TRY(make_signals());
  auto window = std::make_shared<Window>(Window{.buffer = buffer, .bytes = bytes, .number = ++count_});
  TUTTI_TRY(offer_place(window->number, buffer, bytes));
  return window;
}

Result<OneSided::Place> OneSided::place_of(Rank peer, std::uint64_t number, Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find({peer, number});
    if (found != known_.end()) return found->second;
  }
  const transport::Member& member = side_.peers()[static_cast<std::size_t>(peer)];
  if (member.is_remote)
    return Status(Code::unsupported, fmt::format("rank {} is on another host, whose memory cannot be stored to from "
                                                 "here; use ncclSend and ncclRecv",
                                                 peer));
  TUTTI_ASSIGN(const Bytes note, comm::obtain(side_, peer, kWindowNames + number, deadline));
  ByteReader reader(note);
  const auto address = reader.number<std::uint64_t>();
  const auto offset = reader.number<std::uint64_t>();
  const auto is_in_heap = reader.number<std::uint64_t>();
  const auto bytes = reader.number<std::uint64_t>();
  if (!bytes) return Status(Code::internal, fmt::format("rank {} told nonsense of its window", peer));
  Place place{.bytes = *bytes};
  if (member.is_same_process) {
    place.data = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(*address));
  } else if (*is_in_heap != 0 && *offset <= member.heap_bytes && *bytes <= member.heap_bytes - *offset) {
    place.data = member.heap + *offset;
  } else {
    return Status(Code::invalid_usage, fmt::format("the window of rank {} lies in memory that other processes cannot "
                                                   "reach; take it from ncclMemAlloc or cudaMalloc",
                                                   peer));
  }
  const std::lock_guard lock(mutex_);
  return known_.emplace(std::pair(peer, number), place).first->second;
}

Result<std::byte*> OneSided::find(Rank peer, const Window& window, std::size_t offset, std::size_t bytes,
                                  Deadline deadline) {
  TUTTI_ASSIGN(const Place place, place_of(peer, window.number, deadline));
  if (offset > place.bytes || bytes > place.bytes - offset)
    return invalid_argument(fmt::format("{} bytes at {} do not fit into the window of rank {}, which has {}", bytes,
                                        offset, peer, place.bytes));
  return place.data + offset;
}

Result<std::atomic<std::uint64_t>*> OneSided::signal_of(Rank peer, const SignalName& name, Deadline deadline) {
  TUTTI_ASSIGN(const Place place, place_of(peer, kSignals, deadline));
  return reinterpret_cast<std::atomic<std::uint64_t>*>(place.data) + place_in(side_.rank(), name);
}

Result<std::atomic<std::uint64_t>*> OneSided::own_signal(Rank from, const SignalName& name) {
  const std::lock_guard lock(mutex_);
  TUTTI_TRY(make_signals());
  return reinterpret_cast<std::atomic<std::uint64_t>*>(signals_.data()) + place_in(from, name);
}

std::uint64_t OneSided::expect(Rank from, const SignalName& name, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  return expected_[{from, name.index, name.context}] += count;
}

}  // namespace tutti::nccl
