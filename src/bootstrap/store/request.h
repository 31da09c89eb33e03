// What clients and the server of a store say to each other, as bytes. Pure: no socket is touched here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// On a Unix socket every request gets one reply, and the next request comes after it. Only give_up comes while a wait
// has no reply yet, and gets none of its own: it makes the wait's reply `absent`, unless the value is already on its
// way.
enum class RequestKind : std::uint8_t { set = 1, get = 2, wait = 3, add = 4, compare_and_swap = 5, give_up = 6 };

struct Request {
  RequestKind kind = RequestKind::get;
  std::string key = {};
  std::int64_t delta = 0;  // of add
  Bytes expected = {};     // of compare_and_swap
  Bytes value = {};        // of set, and what compare_and_swap desires
  bool operator==(const Request&) const = default;
};

enum class Outcome : std::uint8_t { value = 1, absent = 2, failure = 3 };

struct Reply {
  Outcome outcome = Outcome::absent;
  Code code = Code::ok;  // of a failure, whose text is the value
  Bytes value = {};
  bool operator==(const Reply&) const = default;
};

// The length of what follows, then that many bytes. The longest is a compare_and_swap of two full values.
inline constexpr std::size_t kFrameHeaderBytes = 4;
inline constexpr std::size_t kFrameBytesMax = 64 + kKeyBytesMax + 2 * kValueBytesMax;

// The body of the frame at the front; nullopt when more bytes have to come. A length that nobody sends is a failure.
Result<std::optional<std::span<const std::byte>>> parse_frame(std::span<const std::byte> bytes);

Bytes frame_of(const Request& request);
Bytes frame_of(const Reply& reply);

// The bodies alone, for connections that keep the borders of messages.
Bytes body_of(const Request& request);
Bytes body_of(const Reply& reply);
Result<Request> parse_request(std::span<const std::byte> body);
Result<Reply> parse_reply(std::span<const std::byte> body);

}  // namespace tutti::bootstrap
