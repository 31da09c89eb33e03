// What ranks and the meeting point say to each other until everybody has the roster, as bytes. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bootstrap/membership/roster.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

inline constexpr std::size_t kVersionBytesMax = 64;
inline constexpr std::size_t kMissingTold = 16;  // more than a sentence shows

// The first byte of a message, and by it whose it is: a process may hold a meeting, a joiner and a member at once.
inline constexpr std::uint8_t kMeetingKinds = 1;
inline constexpr std::uint8_t kJoinerKinds = 16;
inline constexpr std::uint8_t kMemberKinds = 32;

// To the meeting: I am here, and this is how to reach me.
struct Join {
  std::uint64_t epoch = 0;  // 0: whichever the meeting has
  Rank rank = kNoRank;      // kNoRank: any that is free
  Rank size = 0;            // 0: whichever the meeting has
  std::string version;
  Participant self;
  bool operator==(const Join&) const = default;
};
// To the meeting, from rank 0, at the top of the tree by which the roster goes to all.
struct Spread {
  std::uint64_t epoch = 0;
  bool is_complete = false;  // everybody has it
  bool operator==(const Spread&) const = default;
};

// To those who join.
struct Waiting {
  std::uint64_t epoch = 0;
  Rank size = 0;
  Rank missing_count = 0;
  std::vector<Rank> missing;  // the first of them
  bool operator==(const Waiting&) const = default;
};
struct Refused {
  std::uint64_t epoch = 0;
  std::string text;
  bool operator==(const Refused&) const = default;
};
struct Everybody {
  Roster roster;
  bool operator==(const Everybody&) const = default;
};
// From parent to child in the tree: how far are you?
struct Check {
  std::uint64_t epoch = 0;
  bool operator==(const Check&) const = default;
};
// From child to parent.
struct Report {
  std::uint64_t epoch = 0;
  bool is_complete = false;  // all below have it too
  bool operator==(const Report&) const = default;
};

using MeetingMessage = std::variant<Join, Spread, Waiting, Refused, Everybody, Check, Report>;

Bytes encode(const MeetingMessage& message);
Result<MeetingMessage> parse_meeting_message(std::span<const std::byte> bytes);

}  // namespace tutti::bootstrap
