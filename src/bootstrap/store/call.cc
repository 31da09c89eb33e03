#include "bootstrap/store/call.h"

#include "base/bytes.h"

namespace tutti::bootstrap {

Bytes message_of(const StoreCall& call) {
  Bytes message;
  append_number(message, call.number);
  append_number(message, call.oldest);
  append_number(message, call.wait_ns);
  append(message, body_of(call.request));
  return message;
}

Bytes message_of(const StoreAnswer& answer) {
  Bytes message;
  append_number(message, answer.number);
  append(message, body_of(answer.reply));
  return message;
}

Result<StoreCall> parse_call(std::span<const std::byte> message) {
  ByteReader reader(message);
  StoreCall call;
  if (!reader.read(call.number) || !reader.read(call.oldest) || !reader.read(call.wait_ns))
    return invalid_argument("a call of a store is cut short");
  if (call.oldest > call.number) return invalid_argument("a call of a store is older than the oldest");
  TUTTI_ASSIGN(call.request, parse_request(reader.rest()));
  if (call.request.kind == RequestKind::give_up)
    return invalid_argument("waits between hosts end by themselves: nobody gives up");
  return call;
}

Result<StoreAnswer> parse_answer(std::span<const std::byte> message) {
  ByteReader reader(message);
  StoreAnswer answer;
  if (!reader.read(answer.number)) return invalid_argument("an answer of a store is cut short");
  TUTTI_ASSIGN(answer.reply, parse_reply(reader.rest()));
  return answer;
}

}  // namespace tutti::bootstrap
