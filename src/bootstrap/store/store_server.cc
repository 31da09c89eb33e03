#include "bootstrap/store/store_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/bytes.h"
#include "bootstrap/store/execute.h"

namespace tutti::bootstrap {
namespace {

Time later(Time now, std::uint64_t wait_ns) {
  constexpr std::uint64_t kMostNs = std::numeric_limits<std::int64_t>::max();
  return Deadline::after(now, std::chrono::nanoseconds(std::min(wait_ns, kMostNs))).at;
}

// What the reply was when the change was made.
Reply repeated(const Request& request, std::int64_t sum) {
  if (request.kind == RequestKind::add) return reply_of(value_of_counter(sum));
  return reply_of(request.kind == RequestKind::set ? Bytes() : request.value);
}

// A compare-and-swap that found another value has changed nothing.
bool has_changed(const Request& request, const Reply& reply) {
  if (!is_change(request.kind) || reply.outcome != Outcome::value) return false;
  return request.kind != RequestKind::compare_and_swap || reply.value == request.value;
}

}  // namespace

void StoreServer::receive(ActorId from, std::span<const std::byte> message) {
  const auto call = parse_call(message);
  if (!call) return;  // nobody of ours sends garbage, and without a number there is no answer to it
  Client* client = client_of(from);
  if (client == nullptr) {
    answer({from, call->number},
           reply_of(Status(Code::out_of_memory, fmt::format("the store has {} clients, and that is its limit; let one "
                                                            "process of a host use it for the others",
                                                            limits_.clients))));
    return world_.forget(from);
  }
  acknowledge(*client, call->oldest);
  // A late copy of a change: the client has the answer.
  if (is_change(call->request.kind) && call->number < client->oldest) return;
  take(from, *client, *call);
  wake_in_time();
}

StoreServer::Client* StoreServer::client_of(ActorId id) {
  auto found = clients_.find(id);
  if (found == clients_.end()) {
    if (clients_.size() >= limits_.clients && !make_room()) return nullptr;
    found = clients_.try_emplace(id).first;
  }
  if (!found->second.is_present) ++present_count_;
  found->second.is_present = true;
  return &found->second;
}

// Of those who were cut off one is forgotten. If it comes back, a change of which it has not heard may be made twice;
// that takes as many lost clients as there is room for.
bool StoreServer::make_room() {
  const auto absent = std::ranges::find_if(clients_, [](const auto& entry) { return !entry.second.is_present; });
  if (absent == clients_.end()) return false;
  erase(absent);
  return true;
}

void StoreServer::erase(std::map<ActorId, Client>::iterator client) {
  remembered_count_ -= client->second.made.size();
  clients_.erase(client);
}

void StoreServer::acknowledge(Client& client, std::uint64_t oldest) {
  if (oldest <= client.oldest) return;
  client.oldest = oldest;
  const auto end = client.made.lower_bound(oldest);
  remembered_count_ -= static_cast<std::size_t>(std::distance(client.made.begin(), end));
  client.made.erase(client.made.begin(), end);
}

Status StoreServer::check_room(ActorId from, const Client& client) const {
  if (client.made.size() + waits_.count_of(from) >= kCallsMax)
    return {Code::invalid_usage,
            fmt::format("this process has {} calls of the store under way, and that is the limit", kCallsMax)};
  if (waits_.size() < limits_.waits && remembered_count_ < limits_.remembered) return {};
  return {Code::out_of_memory, fmt::format("the store has {} waits and {} changes under way, and one is the limit of "
                                           "all clients together; let fewer wait at once",
                                           waits_.size(), remembered_count_)};
}

void StoreServer::take(ActorId from, Client& client, const StoreCall& call) {
  const Request& request = call.request;
  const CallId id{from, call.number};
  if (const auto made = client.made.find(call.number); made != client.made.end())
    return answer(id, repeated(request, made->second));
  waits_.remove(id);  // one that comes again begins anew
  const Status room = request.kind == RequestKind::get ? Status() : check_room(from, client);
  if (!room) return answer(id, reply_of(room));
  auto reply = execute(table_, request);
  if (!reply) return start_wait(from, call);
  if (has_changed(request, *reply)) {
    const bool is_sum = request.kind == RequestKind::add;
    client.made.emplace(call.number, is_sum ? load_number<std::int64_t>(reply->value) : 0);
    ++remembered_count_;
  }
  answer(id, *std::move(reply));
  if (is_change(request.kind)) answer_waiting(request.key);
}

Reply StoreServer::ask_here(const Request& request) {
  Reply reply = execute(table_, request).value_or(Reply{});
  if (is_change(request.kind)) answer_waiting(request.key);
  return reply;
}

void StoreServer::start_wait(ActorId from, const StoreCall& call) {
  if (call.wait_ns == 0) return answer({from, call.number}, Reply{});
  waits_.add({from, call.number}, call.request.key, later(world_.now(), call.wait_ns));
}

void StoreServer::answer_waiting(std::string_view key) {
  const Bytes* value = table_.find(key);
  if (value == nullptr) return;
  for (const CallId& call : waits_.take(key)) answer(call, reply_of(*value));
}

// A client without an address: there is only the connection that it has made itself.
void StoreServer::answer(const CallId& call, Reply reply) {
  world_.send(Contact{.id = call.client, .addresses = {}},
              message_of(StoreAnswer{.number = call.number, .reply = std::move(reply)}));
}

void StoreServer::lost(ActorId actor, const Status& why) {
  waits_.drop(actor);  // who comes back asks again
  const auto found = clients_.find(actor);
  if (found == clients_.end()) return;
  if (found->second.is_present) --present_count_;
  found->second.is_present = false;
  if (why.code() == Code::peer_lost) erase(found);
}

void StoreServer::wake() {
  for (const CallId& call : waits_.take_due(world_.now())) answer(call, Reply{});
  wake_in_time();
}

void StoreServer::wake_in_time() {
  if (const auto next = waits_.next(); next && *next != Deadline::never().at) world_.wake_at(*next);
}

}  // namespace tutti::bootstrap
