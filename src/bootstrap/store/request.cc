#include "bootstrap/store/request.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/bytes.h"

namespace tutti::bootstrap {
namespace {

Bytes frame_around(const Bytes& body) {
  TUTTI_ASSERT(!body.empty() && body.size() <= kFrameBytesMax, "keys and values are checked before");
  Bytes frame;
  frame.reserve(kFrameHeaderBytes + body.size());
  append_number(frame, static_cast<std::uint32_t>(body.size()));
  append(frame, body);
  return frame;
}

bool read_value(ByteReader& reader, Bytes& value) {
  const auto bytes = reader.counted(kValueBytesMax);
  if (bytes) value.assign(bytes->begin(), bytes->end());
  return bytes.has_value();
}

bool read_arguments(ByteReader& reader, Request& request) {
  switch (request.kind) {
    case RequestKind::get:
    case RequestKind::give_up:
    case RequestKind::wait: return true;
    case RequestKind::set: return read_value(reader, request.value);
    case RequestKind::compare_and_swap:
      return read_value(reader, request.expected) && read_value(reader, request.value);
    case RequestKind::add: return reader.read(request.delta);
  }
  return false;
}

bool is_code(std::uint8_t code) { return code <= static_cast<std::uint8_t>(Code::internal); }

}  // namespace

Result<std::optional<std::span<const std::byte>>> parse_frame(std::span<const std::byte> bytes) {
  using Body = std::optional<std::span<const std::byte>>;
  ByteReader reader(bytes);
  const auto length = reader.number<std::uint32_t>();
  if (!length) return Body();
  if (*length == 0 || *length > kFrameBytesMax)
    return invalid_argument(fmt::format("a message says it has {} bytes; there are 1 to {}", *length, kFrameBytesMax));
  return Body(reader.take(*length));
}

Bytes body_of(const Request& request) {
  Bytes body;
  append_number(body, static_cast<std::uint8_t>(request.kind));
  append_counted(body, bytes_of(request.key));
  switch (request.kind) {
    case RequestKind::get:
    case RequestKind::give_up:
    case RequestKind::wait: break;
    case RequestKind::add: append_number(body, request.delta); break;
    case RequestKind::compare_and_swap:
      append_counted(body, request.expected);
      append_counted(body, request.value);
      break;
    case RequestKind::set: append_counted(body, request.value); break;
  }
  return body;
}

Bytes body_of(const Reply& reply) {
  Bytes body;
  append_number(body, static_cast<std::uint8_t>(reply.outcome));
  append_number(body, static_cast<std::uint8_t>(reply.code));
  append_counted(body, reply.value);
  return body;
}

Bytes frame_of(const Request& request) { return frame_around(body_of(request)); }
Bytes frame_of(const Reply& reply) { return frame_around(body_of(reply)); }

Result<Request> parse_request(std::span<const std::byte> body) {
  ByteReader reader(body);
  const auto kind = reader.number<std::uint8_t>();
  if (!kind) return invalid_argument("a request has no kind");
  if (*kind < static_cast<std::uint8_t>(RequestKind::set) || *kind > static_cast<std::uint8_t>(RequestKind::give_up))
    return invalid_argument(fmt::format("there is no request of kind {}", *kind));
  const auto key = reader.counted(kKeyBytesMax);
  if (!key || key->empty()) return invalid_argument("a request has no key or one outside of the limits");
  Request request;
  request.kind = static_cast<RequestKind>(*kind);
  request.key = text_of(*key);
  if (!read_arguments(reader, request)) return invalid_argument("a request ends early or has a value over the limit");
  if (!reader.rest().empty())
    return invalid_argument(fmt::format("{} bytes follow a request inside its frame", reader.rest().size()));
  return request;
}

Result<Reply> parse_reply(std::span<const std::byte> body) {
  ByteReader reader(body);
  const auto outcome = reader.number<std::uint8_t>();
  const auto code = reader.number<std::uint8_t>();
  Reply reply;
  if (!outcome || !code || !is_code(*code) || !read_value(reader, reply.value) || !reader.rest().empty())
    return invalid_argument("a reply is cut short, too long or has no known code");
  if (*outcome < static_cast<std::uint8_t>(Outcome::value) || *outcome > static_cast<std::uint8_t>(Outcome::failure))
    return invalid_argument(fmt::format("there is no outcome {}", *outcome));
  reply.outcome = static_cast<Outcome>(*outcome);
  reply.code = static_cast<Code>(*code);
  if ((reply.outcome == Outcome::failure) == (reply.code == Code::ok))
    return invalid_argument("a reply is both a failure and a success");
  return reply;
}

}  // namespace tutti::bootstrap
