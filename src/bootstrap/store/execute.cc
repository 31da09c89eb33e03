#include "bootstrap/store/execute.h"

#include "base/assert.h"
#include "base/bytes.h"

namespace tutti::bootstrap {
namespace {

Reply change(Table& table, const Request& request, const Bytes& value, Reply reply) {
  const Status status = table.set(request.key, value);
  return status ? std::move(reply) : reply_of(status);
}

Reply add(Table& table, const Request& request) {
  const auto sum = counter_after(request.key, table.find(request.key), request.delta);
  if (!sum) return reply_of(sum.status());
  const Bytes value = value_of_counter(*sum);
  return change(table, request, value, reply_of(value));
}

}  // namespace

Reply reply_of(const Status& failure) {
  const auto text = bytes_of(failure.text());
  return {Outcome::failure, failure.code(), Bytes(text.begin(), text.end())};
}

Reply reply_of(const Bytes& value) { return {Outcome::value, Code::ok, value}; }

bool is_change(RequestKind kind) {
  return kind == RequestKind::set || kind == RequestKind::add || kind == RequestKind::compare_and_swap;
}

std::optional<Reply> execute(Table& table, const Request& request) {
  const Bytes* current = table.find(request.key);
  switch (request.kind) {
    case RequestKind::set: return change(table, request, request.value, reply_of(Bytes()));
    case RequestKind::get: return current == nullptr ? Reply{} : reply_of(*current);
    case RequestKind::wait: return current == nullptr ? std::nullopt : std::optional(reply_of(*current));
    case RequestKind::add: return add(table, request);
    case RequestKind::compare_and_swap:
      if (!matches(current, request.expected)) return reply_of(current == nullptr ? Bytes() : *current);
      return change(table, request, request.value, reply_of(request.value));
    case RequestKind::give_up: break;
  }
  TUTTI_ASSERT(false, "servers handle giving up themselves");
  return std::nullopt;
}

}  // namespace tutti::bootstrap
