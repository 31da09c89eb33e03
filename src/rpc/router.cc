#include "rpc/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "os/clock.h"

namespace tutti::rpc {
namespace {

constexpr std::size_t kAddressesMax = 32;            // of one actor
constexpr std::size_t kAddressesBytesMax = 4 << 10;  // all of them in a frame

std::string name_of(ActorId id) { return fmt::format("actor {:016x}", id.value); }

}  // namespace

Router::~Router() {
  for (auto& [id, peer] : peers_) {
    peer.dial.reset();
    drop_links(peer);
  }
}

Router::Peer* Router::find_peer(ActorId id) {
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : &found->second;
}

Router::Peer& Router::peer_of(ActorId id) { return peers_.try_emplace(id, Peer{.id = id}).first->second; }

void Router::erase_if_unused(ActorId id) {
  const Peer* peer = find_peer(id);
  if (peer != nullptr && peer->links.empty() && peer->dial == nullptr && peer->queue.empty() &&
      peer->services.empty() && peer->losing.empty())
    peers_.erase(id);
}

void Router::detach(Service service) {
  actors_.erase(service);
  std::vector<ActorId> ids;
  for (const auto& [id, peer] : peers_) ids.push_back(id);
  for (const ActorId id : ids) forget(service, id);
}

void Router::send(Service service, const Contact& to, Bytes message) {
  if (is_shutting_down_) return;
  if (to.id == credentials_.id) {
    loop_.call_later([this, service, message = std::move(message)] { deliver(credentials_.id, service, message); });
    return;
  }
  Peer& peer = peer_of(to.id);
  if (peer.losing.contains(service)) return;
  peer.services.insert(service);
  if (!to.addresses.empty()) peer.addresses = to.addresses;
  if (message.size() > kMessageBytesMax) {
    peer.losing.insert(service);
    return tell_loss(
        peer, Code::network,
        fmt::format("a message of {} bytes cannot be sent; {} are possible", message.size(), kMessageBytesMax));
  }
  enqueue(peer, service, std::move(message));
}

void Router::enqueue(Peer& peer, Service service, Bytes message) {
  const std::size_t waiting = peer.queued_bytes + (peer.sending == nullptr ? 0 : peer.sending->queued_bytes());
  if (waiting + message.size() > options_.queue_bytes_max) {
    ++counters_.full_queues;
    return lose(peer, Status(Code::network, fmt::format("it has not taken {} of messages",
                                                        text::bytes_text(options_.queue_bytes_max))));
  }
  peer.queued_bytes += message.size();
  peer.queue.push_back({service, std::move(message)});
  move_on(peer);
}

// Whether there is a link to send over. One that is finishing has to be gone first: what goes another way could
// overtake what it still carries.
bool Router::choose_link(Peer& peer) {
  if (peer.sending != nullptr && !peer.sending->is_finishing()) return true;
  peer.sending = nullptr;
  if (peer.links.empty() || std::ranges::any_of(peer.links, [](const auto& link) { return link->is_finishing(); }))
    return false;
  peer.sending = peer.links.front().get();
  peer.sending_epoch = ++epoch_;
  return true;
}

// Sends what is queued, or sees to it that it can be sent; keeps a connection while somebody expects something.
void Router::move_on(Peer& peer) {
  if (!peer.queue.empty() && choose_link(peer)) {
    for (auto& [service, message] : peer.queue)
      peer.sending->send({.service = service, .kind = FrameKind::message, .epoch = peer.sending_epoch},
                         std::move(message));
    drop_queue(peer);
    say_goodbye(peer);
  }
  const bool is_watched = !peer.services.empty() && !peer.addresses.empty() && !is_shutting_down_;
  if ((!peer.queue.empty() || is_watched) && peer.dial == nullptr && peer.links.empty()) start_dial(peer);
  if (is_shutting_down_) finish(peer);
}

void Router::start_dial(Peer& peer) {
  Call call;
  call.to = {peer.id, peer.addresses};
  call.from = options_.connect_from;
  call.options = options_.tcp;
  call.deadline = Deadline::after(os::now(), options_.connect_time);
  peer.dial = std::make_unique<Dial>(loop_, credentials_, std::move(call),
                                     [this, id = peer.id](Result<Greeted> result) { end_dial(id, std::move(result)); });
}

void Router::end_dial(ActorId id, Result<Greeted> result) {
  Peer* peer = find_peer(id);
  const std::unique_ptr<Dial> dial = std::move(peer->dial);
  const Status doubt = std::exchange(peer->doubt, Status());
  if (result) {
    if (!doubt) tell_loss(*peer, Code::network, fmt::format("{}; it can be reached again", doubt.text()));
    return add_link(*peer, *std::move(result));
  }
  const Status why = result.status();
  drop_queue(*peer);
  peer->losing.insert(peer->services.begin(), peer->services.end());
  peer->services.clear();
  const Code code = why.code() == Code::peer_lost ? Code::peer_lost : Code::network;
  tell_loss(*peer, code, doubt ? std::string(why.text()) : fmt::format("{}; {}", doubt.text(), why.text()));
  erase_if_unused(id);
}

void Router::adopt(Greeted greeted) {
  if (is_shutting_down_) return;
  Peer& peer = peer_of(greeted.peer.id);
  peer.dial.reset();
  const Status doubt = std::exchange(peer.doubt, Status());
  if (!doubt) tell_loss(peer, Code::network, fmt::format("{}; it has connected again", doubt.text()));
  add_link(peer, std::move(greeted));
}

void Router::add_link(Peer& peer, Greeted greeted) {
  const bool has_connected = greeted.peer.role == Role::acceptor;
  peer.links.push_back(std::make_unique<Link>(loop_, std::move(greeted), *this));
  Link& link = *peer.links.back();
  if (const Status status = link.start(); !status) return end_link(link, status);
  if (has_connected) introduce(link);
  order_links(peer);
  move_on(peer);
}

// What a link that is finishing still brings comes before what the others bring.
void Router::order_links(Peer& peer) {
  const bool has_older = std::ranges::any_of(peer.links, [](const auto& link) { return link->is_finishing(); });
  for (const auto& link : peer.links) link->set_reading(!has_older || link->is_finishing());
}

void Router::introduce(Link& link) {
  std::string lines;
  for (const std::string& address : own_addresses_) lines += address + "\n";
  const auto bytes = std::as_bytes(std::span(lines));
  link.send({.kind = FrameKind::addresses}, Bytes(bytes.begin(), bytes.end()));
}

// Where a peer listens that has connected by itself: how to look for it should the connection be lost.
void Router::take_addresses(Peer& peer, const Link& link, const Bytes& body) {
  if (!peer.addresses.empty() || body.size() > kAddressesBytesMax) return;
  const std::string_view lines(reinterpret_cast<const char*>(body.data()), body.size());
  for (const std::string_view line : text::split(lines, '\n')) {
    const auto address = os::TcpAddress::parse(line);
    if (!address || peer.addresses.size() >= kAddressesMax) continue;
    const auto port = address->port();
    peer.addresses.push_back(address->is_any() ? link.peer_address().with_port(port).text() : address->text());
  }
}

void Router::take_frame(Link& link, Frame frame) {
  Peer& peer = *find_peer(link.peer());
  switch (frame.header.kind) {
    case FrameKind::addresses: return take_addresses(peer, link, frame.body);
    case FrameKind::goodbye: return say_goodbye(peer);
    case FrameKind::farewell: return;
    case FrameKind::message: break;
  }
  if (frame.header.epoch < peer.newest_epoch) {
    ++counters_.stale_messages;
    return;
  }
  peer.newest_epoch = frame.header.epoch;
  if (actors_.contains(frame.header.service)) peer.services.insert(frame.header.service);
  deliver(peer.id, frame.header.service, frame.body);
}

void Router::deliver(ActorId from, Service service, std::span<const std::byte> message) {
  const auto found = actors_.find(service);
  if (found == actors_.end()) {
    if (!is_shutting_down_) ++counters_.unknown_services;
    return;
  }
  found->second->receive(from, message);
}

void Router::forget(Service service, ActorId actor) {
  Peer* peer = find_peer(actor);
  if (peer == nullptr) return;
  peer->services.erase(service);
  peer->losing.erase(service);
  say_goodbye(*peer);
  erase_if_unused(actor);
}

void Router::say_goodbye(Peer& peer) {
  if (!peer.services.empty() || !peer.losing.empty() || !peer.queue.empty()) return;
  peer.dial.reset();  // it was looking for somebody of whom nobody expects anything
  peer.doubt = Status();
  for (const auto& link : peer.links) {
    if (link->is_finishing()) continue;
    if (!link->has_said_goodbye()) link->send({.kind = FrameKind::goodbye}, {});
    if (!link->has_heard_goodbye()) continue;
    link->send({.kind = FrameKind::farewell}, {});
    link->finish_writing();
  }
}

void Router::end_link(Link& link, const Status& why) {
  Peer& peer = *find_peer(link.peer());
  const ActorId id = peer.id;
  const bool is_loss = !link.is_finishing();  // one of the two has said farewell, and all has been read since
  if (peer.sending == &link) peer.sending = nullptr;
  const auto place = std::ranges::find(peer.links, &link, &std::unique_ptr<Link>::get);
  bury(std::move(*place));
  peer.links.erase(place);
  order_links(peer);
  if (is_loss && !is_shutting_down_) {
    if (peer.links.empty()) return lose(peer, why);
    // The peer is there, by another connection; but nobody knows what has become of the last messages.
    peer.losing.insert(peer.services.begin(), peer.services.end());
    tell_loss(peer, Code::network, std::string(why.text()));
  }
  move_on(peer);
  erase_if_unused(id);
}

void Router::lose(Peer& peer, const Status& why) {
  drop_links(peer);
  drop_queue(peer);
  peer.dial.reset();
  peer.doubt = Status();
  peer.losing.insert(peer.services.begin(), peer.services.end());
  if (peer.services.empty()) return erase_if_unused(peer.id);
  if (why.code() == Code::peer_lost && !peer.addresses.empty()) {
    peer.doubt = why;
    return start_dial(peer);
  }
  peer.services.clear();
  tell_loss(peer, Code::network, std::string(why.text()));
}

void Router::tell_loss(Peer& peer, Code code, const std::string& why) {
  const Status status(code, fmt::format("{}: {}", name_of(peer.id), why), Scope::connection);
  for (const Service service : peer.losing) {
    loop_.call_later([this, id = peer.id, service, status] {
      Peer* found = find_peer(id);
      if (found == nullptr || found->losing.erase(service) == 0) return;
      const auto actor = actors_.find(service);
      if (actor != actors_.end()) actor->second->lost(id, status);
      found = find_peer(id);
      if (found == nullptr) return;
      say_goodbye(*found);
      erase_if_unused(id);
    });
  }
}

void Router::drop_links(Peer& peer) {
  peer.sending = nullptr;
  for (auto& link : peer.links) {
    link->close();
    bury(std::move(link));
  }
  peer.links.clear();
}

void Router::drop_queue(Peer& peer) {
  peer.queue.clear();
  peer.queued_bytes = 0;
}

void Router::bury(std::unique_ptr<Link> link) {
  graves_.push_back(std::move(link));
  if (graves_.size() == 1) loop_.call_later([this] { graves_.clear(); });
}

void Router::finish(Peer& peer) {
  if (!peer.queue.empty()) return;
  for (const auto& link : peer.links) link->finish_writing();
}

void Router::shut_down() {
  is_shutting_down_ = true;
  actors_.clear();
  for (auto& [id, peer] : peers_) {
    if (!peer.doubt) peer.dial.reset();
    finish(peer);
  }
}

bool Router::is_drained() const {
  return std::ranges::all_of(peers_, [](const auto& entry) {
    const Peer& peer = entry.second;
    return peer.links.empty() && (peer.queue.empty() || peer.dial == nullptr);
  });
}

}  // namespace tutti::rpc
