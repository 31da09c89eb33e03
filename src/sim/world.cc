#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sim/parts.h"

namespace tutti::sim {
namespace {

constexpr std::string_view kAddressPrefix = "sim:";
constexpr std::size_t kLongBytes = 4096;  // what is shorter is not worth comparing

}  // namespace

World::World(std::uint64_t seed, Nature nature) : nature_(nature), random_(seed), latency_seed_(random_.next()) {}

World::~World() {
  for (auto& node : nodes_) node->actor.reset();  // while the world that they see is still there
}

Contact World::spawn(const ActorFactory& factory) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  auto& node = *nodes_.emplace_back(std::make_unique<Node>());
  node.contact = {{random_.next() | 1}, {fmt::format("{}{}", kAddressPrefix, index)}};
  by_id_.emplace(node.contact.id.value, index);
  node.place = std::make_unique<Place>(*this, index, random_.next());
  node.actor = factory(*node.place, node.contact);
  return node.contact;
}

void World::at(Time time, std::function<void()> action) {
  actions_.push_back(std::move(action));
  schedule({.time = std::max(time, now_), .kind = Kind::action, .number = actions_.size() - 1});
}

void World::crash(ActorId actor) {
  at(now_, [this, node = by_id_.at(actor.value)] { ended(node); });
}

void World::hang(ActorId actor) {
  at(now_, [this, node = by_id_.at(actor.value)] { nodes_[node]->is_hung = true; });
}

void World::resume(ActorId actor) {
  at(now_, [this, index = by_id_.at(actor.value)] {
    Node& node = *nodes_[index];
    node.is_hung = false;
    for (Event& event : std::exchange(node.kept, {})) happen(event);  // before anything that comes now
  });
}

void World::slow_down(ActorId actor, int factor) { nodes_[by_id_.at(actor.value)]->slowness = factor; }

void World::cut(std::span<const ActorId> from, std::span<const ActorId> to) {
  Cut cut;
  for (const ActorId actor : from) cut.from.insert(by_id_.at(actor.value));
  for (const ActorId actor : to) cut.to.insert(by_id_.at(actor.value));
  at(now_, [this, cut = std::move(cut)] { cuts_.push_back(cut); });
}

void World::heal() {
  at(now_, [this] { cuts_.clear(); });
}

bool World::run_until(const std::function<bool()>& predicate, Time deadline) {
  while (!predicate()) {
    if (events_.empty() || events_.top().time > deadline) {
      now_ = std::max(now_, deadline);
      return false;
    }
    step();
  }
  return true;
}

void World::run_for(std::chrono::nanoseconds time) {
  run_until([] { return false; }, after(now_, time));
}

bool World::lives(ActorId actor) const { return nodes_[by_id_.at(actor.value)]->actor != nullptr; }

bool World::is_hung(ActorId actor) const { return nodes_[by_id_.at(actor.value)]->is_hung; }

bool World::can_reach(ActorId from, ActorId to) const { return !is_cut(by_id_.at(from.value), by_id_.at(to.value)); }

Traffic World::traffic(ActorId actor) const {
  const Node& node = *nodes_[by_id_.at(actor.value)];
  Traffic traffic = node.traffic;
  traffic.connections = node.peers.size();
  return traffic;
}

void World::schedule(Event event) {
  event.order = ++order_;
  events_.push(std::move(event));
}

void World::step() {
  Event event = events_.top();
  events_.pop();
  now_ = std::max(now_, event.time);
  happen(event);
}

void World::happen(Event& event) {
  const bool is_callback = event.kind == Kind::deliver || event.kind == Kind::lost || event.kind == Kind::wake;
  if (is_callback && nodes_[event.node]->is_hung) {
    nodes_[event.node]->kept.push_back(std::move(event));
    return;
  }
  switch (event.kind) {
    case Kind::opened: return opened(event);
    case Kind::deliver: return deliver(event);
    case Kind::broken: return broken(event);
    case Kind::closed: return closed(event);
    case Kind::action: return std::exchange(actions_[event.number], nullptr)();
    case Kind::lost:
    case Kind::wake: break;
  }
  Node& node = *nodes_[event.node];
  if (node.actor == nullptr || (event.kind == Kind::wake && event.number != node.wake_number)) return;
  note(event);
  if (event.kind == Kind::wake)
    node.actor->wake();
  else
    node.actor->lost(nodes_[event.other]->contact.id, event.why);
}

void World::note(const Event& event) {
  for (const std::uint64_t value :
       {event.time.ns, static_cast<std::uint64_t>(event.kind), std::uint64_t{event.node}, std::uint64_t{event.other},
        event.message ? static_cast<std::uint64_t>(event.message->size()) : 0})
    trace_ = Random(trace_ ^ value).next();
  if (!watch_) return;
  const double seconds = static_cast<double>(now_.ns) * 1e-9;
  switch (event.kind) {
    case Kind::wake: return;
    case Kind::lost:
      return watch_(fmt::format("{:.6f} {} hears of {}: {}", seconds, event.node, event.other, event.why.text()));
    case Kind::deliver:
    case Kind::opened:
    case Kind::broken:
    case Kind::closed:
    case Kind::action: break;
  }
  std::string bytes;
  for (const std::byte byte : std::span(*event.message).first(std::min<std::size_t>(event.message->size(), 24)))
    bytes += fmt::format("{:02x}", std::to_integer<int>(byte));
  watch_(fmt::format("{:.6f} {} -> {}: {} bytes {}", seconds, event.other, event.node, event.message->size(), bytes));
}

bool World::is_cut(std::uint32_t from, std::uint32_t to) const {
  return std::ranges::any_of(cuts_, [&](const Cut& cut) { return cut.from.contains(from) && cut.to.contains(to); });
}

bool World::resolve(const Contact& contact, std::uint32_t& node) const {
  for (const std::string& address : contact.addresses) {
    if (!address.starts_with(kAddressPrefix)) continue;
    const auto index = text::integer_of<std::uint32_t>(std::string_view(address).substr(kAddressPrefix.size()));
    if (!index || *index >= nodes_.size()) continue;
    node = *index;
    return true;
  }
  const auto found = by_id_.find(contact.id.value);
  if (found == by_id_.end()) return false;
  node = found->second;
  return true;
}

std::chrono::nanoseconds World::latency(std::uint32_t a, std::uint32_t b) const {
  const std::uint64_t drawn = Random(latency_seed_ ^ key_of(a, b)).next();
  const auto width = static_cast<std::uint64_t>((nature_.latency.most - nature_.latency.least).count()) + 1;
  const auto once = nature_.latency.least + std::chrono::nanoseconds(drawn % width);
  return once * nodes_[a]->slowness * nodes_[b]->slowness;
}

std::chrono::nanoseconds World::draw(Range range) {
  const auto width = static_cast<std::uint64_t>((range.most - range.least).count()) + 1;
  return range.least + std::chrono::nanoseconds(random_.below(width));
}

std::shared_ptr<const Bytes> World::shared(Bytes message) {
  if (message.size() < kLongBytes) return std::make_shared<const Bytes>(std::move(message));
  if (!last_long_ || *last_long_ != message) last_long_ = std::make_shared<const Bytes>(std::move(message));
  return last_long_;
}

void World::wake_at(std::uint32_t node, Time time) {
  schedule({.time = std::max(time, now_), .kind = Kind::wake, .node = node, .number = ++nodes_[node]->wake_number});
}

}  // namespace tutti::sim
