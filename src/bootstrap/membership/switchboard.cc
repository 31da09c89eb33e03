#include "bootstrap/membership/switchboard.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti::bootstrap {
namespace {

std::optional<Part> part_of(std::span<const std::byte> message) {
  if (message.empty()) return std::nullopt;
  const auto kind = std::to_integer<std::uint8_t>(message[0]);
  if (kind >= kMemberKinds) return Part::member;
  if (kind >= kJoinerKinds) return Part::joiner;
  if (kind >= kMeetingKinds) return Part::meeting;
  return std::nullopt;
}

}  // namespace

// The world as one part sees it.
class Switchboard::Line final : public World {
 public:
  Line(Switchboard& board, Part part) : board_(board), bit_(static_cast<std::uint8_t>(1 << static_cast<int>(part))) {}

  Time now() override { return board_.world_.now(); }
  std::uint64_t random() override { return board_.world_.random(); }
  void send(const Contact& to, Bytes message) override {
    if (to.id == board_.self_) {
      board_.to_self_.push_back(std::move(message));
      return board_.wake_in_time();
    }
    board_.wanted_[to.id] |= bit_;
    board_.world_.send(to, std::move(message));
  }
  void wake_at(Time time) override {
    due = time;
    board_.wake_in_time();
  }
  void forget(ActorId actor) override {
    const auto found = board_.wanted_.find(actor);
    if (found == board_.wanted_.end()) return;
    found->second = static_cast<std::uint8_t>(found->second & ~bit_);
    if (found->second != 0) return;
    board_.wanted_.erase(found);
    board_.world_.forget(actor);
  }

  std::optional<Time> due;

 private:
  Switchboard& board_;
  std::uint8_t bit_;
};

Switchboard::Switchboard(World& world, ActorId self) : world_(world), self_(self) {
  for (std::size_t index = 0; index < kPartCount; ++index)
    lines_[index] = std::make_unique<Line>(*this, static_cast<Part>(index));
}

Switchboard::~Switchboard() = default;

World& Switchboard::world_of(Part part) { return *lines_[static_cast<std::size_t>(part)]; }

void Switchboard::set(Part part, std::unique_ptr<Actor> actor) {
  const auto index = static_cast<std::size_t>(part);
  if (actor == nullptr) lines_[index]->due.reset();
  actors_[index] = std::move(actor);
}

void Switchboard::receive(ActorId from, std::span<const std::byte> message) {
  const auto part = part_of(message);
  if (!part) return;
  if (Actor* actor = actors_[static_cast<std::size_t>(*part)].get(); actor != nullptr) actor->receive(from, message);
}

void Switchboard::lost(ActorId actor, const Status& why) {
  for (const auto& part : actors_)
    if (part != nullptr) part->lost(actor, why);
}

void Switchboard::wake() {
  // Only what was there before: who answers itself without end must not keep the others waiting.
  for (const Bytes& message : std::exchange(to_self_, {})) receive(self_, message);
  const Time now = world_.now();
  for (std::size_t index = 0; index < kPartCount; ++index) {
    auto& due = lines_[index]->due;
    if (!due || *due > now) continue;
    due.reset();
    if (actors_[index] != nullptr) actors_[index]->wake();
  }
  wake_in_time();
}

void Switchboard::wake_in_time() {
  std::optional<Time> next;
  for (const auto& line : lines_)
    if (line->due && (!next || *line->due < *next)) next = line->due;
  if (!to_self_.empty()) next = world_.now();
  if (next) world_.wake_at(*next);
}

}  // namespace tutti::bootstrap
