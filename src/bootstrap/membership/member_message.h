// What members of a running job say to each other, as bytes: signs of life, events, questions, and agreeing on who is
// left. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bootstrap/membership/meeting_message.h"
#include "bootstrap/membership/roster.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

inline constexpr std::size_t kReasonBytesMax = 512;
inline constexpr std::size_t kNoticeBytesMax = 16 << 10;
inline constexpr std::size_t kAnswerBytesMax = 256 << 10;  // of questions too

struct Heartbeat {
  bool operator==(const Heartbeat&) const = default;
};

enum class GoneKind : std::uint8_t {
  dead,    // its process has ended, for certain
  silent,  // nobody knows: stopped, cut off, or its host without power
  left,    // it has said goodbye
};
// Goes from neighbour to neighbour until everybody knows.
struct Gone {
  Rank rank = kNoRank;
  GoneKind kind = GoneKind::dead;
  Rank by = kNoRank;  // who has noticed
  std::string reason;
  bool operator==(const Gone&) const = default;
};
// As well. The sequence counts those of one origin, from 1.
struct Notice {
  Rank origin = kNoRank;
  std::uint64_t sequence = 0;
  Bytes bytes;
  bool operator==(const Notice&) const = default;
};

struct Question {
  std::uint64_t id = 0;
  Bytes bytes;
  bool operator==(const Question&) const = default;
};
struct Answer {
  std::uint64_t id = 0;
  Bytes bytes;
  bool operator==(const Answer&) const = default;
};

// Later ballots win. The null ballot is before all.
struct Ballot {
  std::uint32_t attempt = 0;
  Rank rank = 0;
  auto operator<=>(const Ballot&) const = default;
};
using RankList = std::vector<Rank>;  // ascending

// From a coordinator: promise to take part in no earlier ballot. `certain` are the ranks that have ended for certain.
struct Prepare {
  Ballot ballot;
  RankList certain;
  bool operator==(const Prepare&) const = default;
};
struct Promise {
  Ballot ballot;
  Ballot accepted;  // the null ballot: nothing
  RankList survivors;
  RankList certain;
  bool operator==(const Promise&) const = default;
};
// This rank lives but does not take part in shrinking (yet, or any more).
struct NotCalled {
  Ballot ballot;
  bool operator==(const NotCalled&) const = default;
};
struct Outvoted {
  Ballot ballot;
  Ballot promised;
  bool operator==(const Outvoted&) const = default;
};
struct Accept {
  Ballot ballot;
  RankList survivors;
  RankList certain;
  bool operator==(const Accept&) const = default;
};
struct Accepted {
  Ballot ballot;
  std::uint32_t certain_count = 0;  // how many the Accept had: each knows those, and listens to them no more
  bool operator==(const Accepted&) const = default;
};
// From a coordinator to those who wait with it.
struct Standing {
  Ballot ballot;
  RankList not_called;
  RankList unreached;
  bool operator==(const Standing&) const = default;
};
// The decision. Whoever hears it from an older epoch can tell whether it is in, so it names actors instead of ranks.
struct Chosen {
  std::vector<ActorId> survivors;
  std::vector<ActorId> ended;  // those of them that have died meanwhile: the survivors shrink again at once
  bool operator==(const Chosen&) const = default;
};

using MemberBody = std::variant<Heartbeat, Gone, Notice, Question, Answer, Prepare, Promise, NotCalled, Outvoted,
                                Accept, Accepted, Standing, Chosen>;
struct MemberMessage {
  std::uint64_t epoch = 0;  // of the roster that ranks are those of
  MemberBody body;
  std::uint64_t circle = 0;  // whose roster that is; 0: that of all
  bool operator==(const MemberMessage&) const = default;
};

Bytes encode(const MemberMessage& message);
Result<MemberMessage> parse_member_message(std::span<const std::byte> bytes);

}  // namespace tutti::bootstrap
