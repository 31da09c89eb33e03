// Any bytes as what ranks say to each other: the parsers answer, what they accept is what is written, and the actors
// that hear it go on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "bootstrap/membership/joiner.h"
#include "bootstrap/membership/meeting.h"
#include "bootstrap/membership/member.h"

namespace {

using namespace tutti;
using namespace tutti::bootstrap;

class Void final : public World {
 public:
  Time now() override { return {1'000'000'000}; }
  std::uint64_t random() override { return 4; }
  void send(const Contact&, std::vector<std::byte>) override {}
  void wake_at(Time) override {}
  void forget(ActorId) override {}
};

struct Nobody final : MemberOwner {
  void on_gone(const Departure&) override {}
  void on_notice(Rank, std::span<const std::byte>) override {}
  Bytes on_question(Rank, std::span<const std::byte>) override { return {}; }
};

constexpr std::uint64_t kCircle = 7;

Participant somebody(std::uint64_t id) { return {{{id}, {"somewhere"}}, {"host", 1}, {}}; }

void tell_everybody(std::span<const std::byte> bytes) {
  Void world;
  Nobody owner;
  const Roster roster{1, {somebody(1), somebody(2), somebody(3)}};
  Member member(world, owner, roster, 0);
  member.shrink(Deadline::never(), [](auto) {});
  member.shrink_circle(kCircle, {1, {somebody(1), somebody(2)}}, Deadline::never(), [](auto) {});
  member.wake();
  member.receive({2}, bytes);
  // What makes sense among all makes sense in a circle.
  if (auto message = parse_member_message(bytes)) {
    message->circle = kCircle;
    member.receive({2}, encode(*message));
  }
  member.wake();
  Meeting meeting(world, {1, 2, "1.0"});
  meeting.receive({2}, bytes);
  Joiner joiner(world, {{{1}, {"somewhere"}}, 1, 1, 3, "1.0", somebody(2), Deadline::never(), {}, {}}, [](auto) {});
  joiner.receive({1}, bytes);
  joiner.wake();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto message = parse_meeting_message(bytes); message && !std::ranges::equal(encode(*message), bytes))
    std::abort();
  if (const auto message = parse_member_message(bytes); message && !std::ranges::equal(encode(*message), bytes))
    std::abort();
  tell_everybody(bytes);
  return 0;
}
