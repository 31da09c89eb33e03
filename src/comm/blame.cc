#include "comm/blame.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "os/process.h"

namespace tutti::comm {

namespace {

std::string seconds(std::chrono::nanoseconds time) {
  return text::seconds_text(std::chrono::duration<double>(time).count());
}

// The call as it was made, with ranks of the communicator.
std::string call_text(const Operation& operation) {
  const transport::Channel& channel = operation.track().channel;
  Call call = operation.call();
  if (call.collective == plan::Collective::send_receive) {
    call.root = channel.peer(0).rank;
    call.peer = channel.peer(1).rank;
  }
  const std::string number = operation.has_entered() ? fmt::format(" (call {})", channel.call()) : "";
  return describe(call) + number;
}

}  // namespace

std::string name_of_peer(const transport::Member& peer) {
  return fmt::format("rank {} (pid {} on {})", peer.rank, peer.pid, peer.host);
}

std::uint32_t collective_call_of(const Operation& operation) {
  const bool is_message = operation.call().collective == plan::Collective::send_receive;
  return is_message ? 0 : operation.track().channel.call();
}

std::string mismatch_text(const Operation& operation, Rank member) {
  const transport::Channel& channel = operation.track().channel;
  const auto record_of = [&](Rank rank, std::uint32_t call) -> const transport::Record& {
    return channel.block(rank).record(call);
  };
  // The first that differs, as far back as ranks remember: it may have ended without anybody noticing.
  std::uint32_t call = channel.call();
  for (std::uint32_t back = std::min(call, transport::kHistory) - 1; back > 0; --back) {
    const transport::Record& theirs = record_of(member, call - back);
    const bool is_of_call = transport::Tag{theirs.tag.load(std::memory_order_acquire)}.call() == call - back;
    if (is_of_call && !(key_of(theirs) == key_of(record_of(channel.self(), call - back)))) {
      call -= back;
      break;
    }
  }
  const CallKey theirs = key_of(record_of(member, call));
  const CallKey mine = key_of(record_of(channel.self(), call));
  return fmt::format(
      "call {} is not the same everywhere: {} calls {}, {} calls {} ({}); all ranks must make the same calls in the "
      "same order",
      call, name_of_peer(channel.peer(channel.self())), describe(mine), name_of_peer(channel.peer(member)),
      describe(theirs), difference(mine, theirs));
}

std::string activity_text(const Operation& operation, Rank member) {
  const transport::Channel& channel = operation.track().channel;
  const transport::Member& peer = channel.peer(member);
  if (os::state_of(peer.pid) == os::ProcessState::stopped) {
    return fmt::format("is stopped; continue it with kill -CONT {}", peer.pid);
  }
  const transport::Block& block = channel.block(member);
  const std::uint32_t entered = transport::Tag{block.head().tag.load(std::memory_order_acquire)}.call();
  const std::uint32_t done = block.progress().calls_done.load(std::memory_order_acquire);
  if (!operation.has_entered()) return "";
  if (transport::has_reached(entered, channel.call())) return "is in this call too and has not gone on";
  if (entered == 0) return "has made no call yet";
  const std::string last = describe(key_of(block.record(entered)));
  if (entered == done) return fmt::format("has not made this call; its last was call {}, {}", entered, last);
  return fmt::format("is still in call {}, {}", entered, last);
}

std::string waiting_text(const Operation& operation, Rank member, std::string_view what_it_does,
                         std::chrono::nanoseconds waited) {
  const transport::Channel& channel = operation.track().channel;
  const std::string self = name_of_peer(channel.peer(channel.self()));
  if (member == kNoRank) {
    return fmt::format("{} on {} waited {} for an earlier call of the same rank to end", call_text(operation), self,
                       seconds(waited));
  }
  return fmt::format("{} on {} waited {} for {}, which {}", call_text(operation), self, seconds(waited),
                     name_of_peer(channel.peer(member)), what_it_does);
}

}  // namespace tutti::comm
