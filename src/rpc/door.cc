#include "rpc/door.h"

#include <algorithm>
#include <utility>

#include "os/clock.h"

namespace tutti::rpc {
namespace {

constexpr int kAcceptsAtOnce = 64;               // then others have their turn
constexpr std::size_t kNoncesMax = 4096;         // a proof for an older one is refused all the same, as a wrong one
constexpr std::chrono::milliseconds kPause(50);  // until accepting is tried again without a free descriptor

std::uint64_t start_of(const Hello& hello) { return load_number<std::uint64_t>(hello.nonce); }

}  // namespace

Status Door::open(os::TcpListener listener) {
  openings_.push_back({std::move(listener)});
  Opening& opening = openings_.back();
  TUTTI_ASSIGN(opening.watch,
               loop_.watch(opening.listener.descriptor(), os::kReadable, [this, &opening] { accept(opening); }));
  return {};
}

std::vector<os::TcpAddress> Door::addresses() const {
  std::vector<os::TcpAddress> addresses;
  for (const Opening& opening : openings_) addresses.push_back(opening.listener.address());
  return addresses;
}

void Door::close() {
  loop_.cancel(pause_);
  for (Opening& opening : openings_) loop_.unwatch(opening.watch);
  openings_.clear();
  while (!visitors_.empty()) remove(visitors_.begin());
}

void Door::accept(Opening& opening) {
  for (int count = 0; count < kAcceptsAtOnce; ++count) {
    auto socket = opening.listener.try_accept();
    if (!socket) return pause(opening);
    if (!*socket) return;
    welcome(**std::move(socket));
  }
}

// No descriptor is free: the oldest stranger gives up its own, and the others wait in the kernel's queue.
void Door::pause(Opening& opening) {
  if (!visitors_.empty()) return crowd_out();
  if (pause_.is_set()) return;
  loop_.change(opening.watch, 0);
  pause_ = loop_.call_at(Deadline::after(os::now(), kPause).at, [this] {
    pause_ = {};
    for (Opening& each : openings_) loop_.change(each.watch, os::kReadable);
  });
}

void Door::welcome(os::TcpSocket socket) {
  ++counters_.accepted;
  if (visitors_.size() >= limits_.visitors_max) crowd_out();
  auto greeting = Greeting::of_acceptor(std::move(socket), credentials_);
  if (!greeting) return;
  visitors_.push_back({*std::move(greeting)});
  const Place place = std::prev(visitors_.end());
  auto watch = loop_.watch(place->greeting.fd(), os::kReadable, [this, place] { advance(place); });
  if (!watch) return drop(place, Fault::closed);
  place->watch = *watch;
  place->deadline =
      loop_.call_at(Deadline::after(os::now(), limits_.greeting_time).at, [this, place] { drop(place, Fault::late); });
}

void Door::crowd_out() {
  ++counters_.crowded_out;
  remove(visitors_.begin());
}

void Door::drop(Place visitor, Fault fault) {
  counters_.count(fault);
  remove(visitor);
}

void Door::remove(Place visitor) {
  loop_.cancel(visitor->deadline);
  loop_.unwatch(visitor->watch);
  visitors_.erase(visitor);
}

bool Door::is_replay(const Visitor& visitor) const {
  return visitor.greeting.has_heard_peer() && nonces_.contains(start_of(visitor.greeting.peer()));
}

void Door::remember(const Hello& hello) {
  if (!nonces_.insert(start_of(hello)).second) return;
  nonces_in_order_.push_back(start_of(hello));
  if (nonces_in_order_.size() <= kNoncesMax) return;
  nonces_.erase(nonces_in_order_.front());
  nonces_in_order_.pop_front();
}

void Door::advance(Place visitor) {
  const auto is_done = visitor->greeting.advance();
  if (!is_done) return drop(visitor, visitor->greeting.fault());
  if (is_replay(*visitor)) return drop(visitor, Fault::replay);
  if (*is_done) return let_in(visitor);
  loop_.change(visitor->watch, visitor->greeting.wants_write() ? os::kReadable | os::kWritable : os::kReadable);
}

void Door::let_in(Place visitor) {
  ++counters_.authenticated;
  remember(visitor->greeting.peer());
  loop_.cancel(visitor->deadline);
  loop_.unwatch(visitor->watch);
  Greeted greeted = std::move(visitor->greeting).take();
  visitors_.erase(visitor);
  enter_(std::move(greeted));
}

}  // namespace tutti::rpc
