#include "launch/input_feed.h"

#include <algorithm>

namespace tutti::launch {

InputFeed::InputFeed(os::EventLoop& loop, Crew& crew, InputPolicy policy, int fd)
    : crew_(crew),
      policy_(policy),
      pump_(loop, fd,
            {.room = [this] { return room(); },
             .give = [this](std::span<const std::byte> bytes) { give(bytes); },
             .end = [this] { end(); }}) {}

void InputFeed::begin(const Layout& layout) {
  readers_.clear();
  for (const Seat& seat : layout.seats) {
    const bool reads = policy_ == InputPolicy::all || (policy_ == InputPolicy::first && seat.rank == 0);
    if (reads) readers_.emplace(seat.rank, Reader{.host = seat.host});
  }
  if (readers_.empty()) return;
  if (pump_.has_ended()) return end();
  pump_.start();
}

// The slowest of them decides.
std::size_t InputFeed::room() const {
  if (readers_.empty()) return 0;
  std::size_t most = 0;
  for (const auto& [rank, reader] : readers_) most = std::max(most, reader.bytes_on_way);
  return kInputBytesMax - std::min(most, kInputBytesMax);
}

void InputFeed::give(std::span<const std::byte> bytes) {
  for (auto& [rank, reader] : readers_) {
    reader.bytes_on_way += bytes.size();
    crew_.send(reader.host, Input{.rank = rank, .is_end = false, .bytes = Bytes(bytes.begin(), bytes.end())});
  }
}

void InputFeed::end() {
  for (const auto& [rank, reader] : readers_) {
    crew_.send(reader.host, Input{.rank = rank, .is_end = true, .bytes = {}});
  }
}

void InputFeed::took(const Took& took) {
  const auto found = readers_.find(took.rank);
  if (found == readers_.end()) return;
  found->second.bytes_on_way -= std::min<std::size_t>(found->second.bytes_on_way, took.bytes);
  pump_.resume();
}

void InputFeed::left(Rank rank) {
  if (readers_.erase(rank) > 0) pump_.resume();
}

}  // namespace tutti::launch
