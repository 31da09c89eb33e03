// For tests: recordings as ranks would leave them.
#pragma once

#include <fmt/format.h>

#include "comm/watch/recording.h"

namespace tutti::comm::watch {

inline RecordedCall call_of(std::uint32_t number, std::uint64_t count, CallState state) {
  const Call call{.collective = plan::Collective::all_reduce, .count = count, .type = DataType::float32};
  return {.number = number,
          .key = key_of(call),
          .state = state,
          .bytes = 4 * count,
          .plan = "ring",
          .started_s = 100.0 + number};
}
inline RecordedCall done(std::uint32_t number, std::uint64_t count) { return call_of(number, count, CallState::done); }
inline RecordedCall running(std::uint32_t number, std::uint64_t count, Rank waits_for = kNoRank) {
  RecordedCall call = call_of(number, count, CallState::running);
  call.waits_for = waits_for;
  return call;
}
inline RecordedCall message(Rank other, bool is_sender, std::uint64_t count, CallState state = CallState::running) {
  const Call call{
      .collective = plan::Collective::send_receive, .count = count, .type = DataType::float32, .root = 0, .peer = 1};
  RecordedCall recorded = call_of(1, count, state);
  recorded.key = key_of(call);
  recorded.other = other;
  recorded.is_sender = is_sender;
  return recorded;
}

// Taken long after the last call began.
inline Recording recording_of(Rank rank, Rank size, std::vector<RecordedCall> calls) {
  Recording recording{.communicator = 0xabc,
                      .rank = rank,
                      .size = size,
                      .pid = 100 + rank,
                      .host = fmt::format("node{}", rank),
                      .program = "train",
                      .taken_s = 1000,
                      .calls = std::move(calls)};
  for (Rank member = 0; member < size; ++member) {
    recording.members.push_back({100 + member, fmt::format("node{}", member)});
  }
  return recording;
}

}  // namespace tutti::comm::watch
