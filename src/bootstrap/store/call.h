// Requests and replies of a store as messages between actors: numbered, so that one that comes twice counts once.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "bootstrap/store/request.h"

namespace tutti::bootstrap {

// Of one client at a time. Their replies together fit into what a courier queues for a peer, whatever the values.
inline constexpr std::size_t kCallsMax = 60;

struct StoreCall {
  std::uint64_t number = 0;  // drawn by the client; the same when it asks again because a connection was lost
  // The client has the answers to all changes before this one. Waits, which may take long, hold nothing up.
  std::uint64_t oldest = 0;
  std::uint64_t wait_ns = 0;  // of a wait: how long from now; the clocks of two hosts have nothing in common
  Request request = {};
  bool operator==(const StoreCall&) const = default;
};

struct StoreAnswer {
  std::uint64_t number = 0;
  Reply reply = {};
  bool operator==(const StoreAnswer&) const = default;
};

Bytes message_of(const StoreCall& call);
Bytes message_of(const StoreAnswer& answer);
Result<StoreCall> parse_call(std::span<const std::byte> message);
Result<StoreAnswer> parse_answer(std::span<const std::byte> message);

}  // namespace tutti::bootstrap
