// How messages travel in the simulated world, and how they get lost.
#include <fmt/format.h>

#include <utility>

#include "sim/parts.h"
#include "sim/world.h"

namespace tutti::sim {
namespace {

Status unknown_fate(std::string_view what) { return {Code::network, std::string(what), Scope::connection}; }

Status ended_process(const std::string& address) {
  return {Code::peer_lost, fmt::format("nobody listens at {} any more", address), Scope::connection};
}

}  // namespace

World::Connection* World::find(std::uint32_t a, std::uint32_t b) {
  const auto found = connections_.find(key_of(a, b));
  return found == connections_.end() ? nullptr : &found->second;
}

World::Connection* World::find_same(const Event& event) {
  Connection* connection = find(event.node, event.other);
  return connection != nullptr && connection->number == event.number ? connection : nullptr;
}

World::Connection& World::open(std::uint32_t from, std::uint32_t to) {
  Connection& connection = connections_[key_of(from, to)];
  connection = {};
  connection.number = ++connection_count_;
  connection.low = std::min(from, to);
  connection.high = std::max(from, to);
  for (const auto& [node, peer] : {std::pair(from, to), std::pair(to, from)}) {
    Node& end = *nodes_[node];
    end.peers.insert(peer);
    end.traffic.connections_max = std::max(end.traffic.connections_max, end.peers.size());
  }
  const auto handshake = 2 * latency(from, to) + draw(nature_.jitter);
  schedule(
      {.time = after(now_, handshake), .kind = Kind::opened, .node = from, .other = to, .number = connection.number});
  return connection;
}

void World::erase(const Connection& connection) {
  nodes_[connection.low]->peers.erase(connection.high);
  nodes_[connection.high]->peers.erase(connection.low);
  connections_.erase(key_of(connection.low, connection.high));
}

void World::tell_lost(std::uint32_t node, std::uint32_t about, Time time, Status why) {
  schedule({.time = time, .kind = Kind::lost, .node = node, .other = about, .why = std::move(why)});
}

void World::send(std::uint32_t from, const Contact& to, Bytes message) {
  Node& sender = *nodes_[from];
  ++sender.traffic.messages_sent;
  sender.traffic.bytes_sent += message.size();
  std::uint32_t target = 0;
  if (!resolve(to, target)) return;  // as if cut off: nothing comes back, not even a refusal
  Connection* connection = find(from, target);
  if (connection == nullptr && to.addresses.empty())
    return tell_lost(from, target, now_, unknown_fate("there is no connection, and no address to make one"));
  if (connection == nullptr) connection = &open(from, target);
  connection->of(from).has_forgotten = false;
  auto payload = shared(std::move(message));
  if (connection->is_open)
    transmit(*connection, from, std::move(payload));
  else
    connection->of(from).queue.push_back(std::move(payload));
}

void World::transmit(Connection& connection, std::uint32_t from, std::shared_ptr<const Bytes> message) {
  Connection::Side& side = connection.of(from);
  if (side.vanishes) return;
  const std::uint32_t to = connection.other(from);
  side.last_arrival = std::max(side.last_arrival, after(now_, latency(from, to) + draw(nature_.jitter)));
  ++side.in_flight;
  schedule({.time = side.last_arrival,
            .kind = Kind::deliver,
            .node = to,
            .other = from,
            .number = connection.number,
            .message = std::move(message)});
}

void World::opened(const Event& event) {
  Connection* connection = find_same(event);
  if (connection == nullptr || connection->is_breaking) return;
  const std::uint32_t from = event.node;
  const std::uint32_t to = event.other;
  const bool is_cut_off = is_cut(from, to) || is_cut(to, from);
  if (is_cut_off || nodes_[to]->is_hung) {  // a stopped process does not answer the handshake
    connection->is_breaking = true;
    return schedule({.time = after(now_, draw(nature_.connect_timeout)),
                     .kind = Kind::broken,
                     .node = from,
                     .other = to,
                     .number = connection->number});
  }
  if (nodes_[to]->actor == nullptr) {
    tell_lost(from, to, now_, ended_process(nodes_[to]->contact.addresses[0]));
    return erase(*connection);
  }
  if (nodes_[from]->actor == nullptr) {
    if (!connection->of(to).queue.empty()) tell_lost(to, from, now_, ended_process(nodes_[from]->contact.addresses[0]));
    return erase(*connection);
  }
  connection->is_open = true;
  for (const std::uint32_t end : {from, to})
    for (auto& message : std::exchange(connection->of(end).queue, {})) transmit(*connection, end, std::move(message));
  for (const std::uint32_t end : {from, to})
    if (connection->of(end).has_forgotten) close_later(*connection, end);
}

void World::deliver(Event& event) {
  Connection* connection = find_same(event);
  if (connection == nullptr) return;
  Connection::Side& side = connection->of(event.other);
  --side.in_flight;
  if (side.vanishes) return;
  if (is_cut(event.other, event.node)) {
    side.vanishes = true;
    if (connection->is_breaking) return;
    connection->is_breaking = true;
    return schedule({.time = after(now_, draw(nature_.loss_notice)),
                     .kind = Kind::broken,
                     .node = event.other,
                     .other = event.node,
                     .number = connection->number});
  }
  Node& node = *nodes_[event.node];
  if (node.actor == nullptr) return;
  note(event);
  node.actor->receive(nodes_[event.other]->contact.id, *event.message);
}

// The end that waited in vain gives up. The other end hears of it by itself, or when it next says something.
void World::broken(const Event& event) {
  Connection* connection = find_same(event);
  if (connection == nullptr) return;
  const Status why = unknown_fate(connection->is_open ? "the network does not deliver" : "connecting took too long");
  tell_lost(event.node, event.other, now_, why);
  const auto notice = is_cut(event.node, event.other) ? draw(nature_.loss_notice) : latency(event.node, event.other);
  const bool has_waited = !connection->of(event.other).queue.empty();  // for the same connection to open
  if (connection->is_open || has_waited) tell_lost(event.other, event.node, after(now_, notice), why);
  erase(*connection);
}

void World::forget(std::uint32_t node, ActorId actor) {
  const auto found = by_id_.find(actor.value);
  Connection* connection = found == by_id_.end() ? nullptr : find(node, found->second);
  if (connection == nullptr || connection->of(node).has_forgotten) return;
  connection->of(node).has_forgotten = true;
  if (connection->is_open) close_later(*connection, node);
}

void World::close_later(Connection& connection, std::uint32_t by) {
  const std::uint32_t other = connection.other(by);
  schedule({.time = std::max(connection.of(by).last_arrival, after(now_, latency(by, other))),
            .kind = Kind::closed,
            .node = by,
            .other = other,
            .number = connection.number});
}

void World::closed(const Event& event) {
  Connection* connection = find_same(event);
  if (connection == nullptr || !connection->of(event.node).has_forgotten || connection->is_breaking) return;
  if (connection->of(event.other).in_flight > 0) {  // said while the other end was closing
    if (random_.below(2) == 0) return close_later(*connection, event.node);
    tell_lost(event.other, event.node, after(now_, latency(event.node, event.other)),
              unknown_fate("the other end has closed the connection"));
  }
  erase(*connection);
}

void World::ended(std::uint32_t index) {
  Node& node = *nodes_[index];
  if (node.actor == nullptr) return;
  node.actor.reset();
  node.kept.clear();
  node.is_hung = false;
  const std::set<std::uint32_t> peers = node.peers;
  for (const std::uint32_t peer : peers) {
    Connection& connection = *find(index, peer);
    if (!connection.is_open) continue;  // whoever connects is refused or times out
    if (is_cut(index, peer)) {
      connection.of(peer).vanishes = true;
      connection.is_breaking = true;
      schedule({.time = after(now_, draw(nature_.loss_notice)),
                .kind = Kind::broken,
                .node = peer,
                .other = index,
                .number = connection.number});
      continue;
    }
    connection.is_breaking = true;
    const Time time = std::max(after(now_, draw(nature_.end_notice)), connection.of(index).last_arrival);
    const std::uint64_t number = connection.number;
    at(time, [this, index, peer, number] {
      Connection* same = find(index, peer);
      if (same != nullptr && same->number == number) erase(*same);
    });
    tell_lost(peer, index, time, ended_process(node.contact.addresses[0]));
  }
}

}  // namespace tutti::sim
