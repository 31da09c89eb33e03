// How the flight recorder lies in memory: one segment a process, with a page for each communicator's side. Another
// process may read it at any time without asking; a change of anything here is a new kVersion.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/block.h"

namespace tutti::comm::watch {

inline constexpr std::string_view kSegmentName = "tutti-recorder";  // /proc/PID/fd shows "/memfd:tutti-recorder"
inline constexpr std::uint64_t kMagic = 0x3163657269747475;         // "uttirec1" as bytes
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kRing = 1024;        // calls that are remembered
inline constexpr std::uint32_t kRanksMax = 32'767;  // that a track can name
inline constexpr std::uint32_t kMembersMax = 1024;  // ranks of a communicator whose processes are named
inline constexpr std::uint32_t kPagesMax = 512;     // communicators of one process that others can look at
inline constexpr std::size_t kNameBytes = 64;       // of hosts and programs, cut
inline constexpr std::size_t kPlanNameBytes = 32;
inline constexpr std::uint32_t kPlansMax = 126;
inline constexpr std::size_t kHeadBytes = 8192;

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

enum class CallState : std::uint8_t { none, queued, entered, running, done, failed };

// One call. Its only writer is whoever runs the call: the stamp becomes 0, the facts are written, the stamp becomes
// that of the call. Whoever reads the same stamp before and after the rest has read one call, not parts of two.
struct alignas(transport::kLine) CallSlot {
  Word stamp;     // kStamped | the how-manieth of its ring; 0: nothing, or half written
  Word started;   // ticks
  Word finished;  // ticks; 0: not yet, or too soon after the start to be worth reading a clock
  Word count;     // the key of the call, see description.h
  Word what;
  Word detail;
  Word where;  // see Where
  Word state;  // see State

  static constexpr std::uint64_t kStamped = std::uint64_t{1} << 32;
};
static_assert(sizeof(CallSlot) == transport::kLine);

// CallSlot::where: the number of the call on its track, the track, and whom it waits for.
struct Where {
  std::uint32_t number = 0;     // from 1; 0: not entered
  std::uint16_t track = 0;      // 0: collectives, otherwise 1 + 2 * other rank + whether this one sends
  std::uint16_t waits_for = 0;  // 1 + rank; 0: nobody

  std::uint64_t pack() const {
    return std::uint64_t{number} | std::uint64_t{track} << 32 | std::uint64_t{waits_for} << 48;
  }
  static Where unpack(std::uint64_t word) {
    return {.number = static_cast<std::uint32_t>(word),
            .track = static_cast<std::uint16_t>(word >> 32),
            .waits_for = static_cast<std::uint16_t>(word >> 48)};
  }
};

// CallSlot::state.
struct State {
  std::uint64_t bytes = 0;  // of the larger buffer of this rank; below 2^48
  std::uint8_t plan = 0;    // 1 + its place in SegmentHead::plans; 0: not known
  CallState state = CallState::none;

  static constexpr std::uint64_t kBytesMask = (std::uint64_t{1} << 48) - 1;
  std::uint64_t pack() const {
    return (bytes & kBytesMask) | std::uint64_t{plan} << 48 | static_cast<std::uint64_t>(state) << 56;
  }
  static State unpack(std::uint64_t word) {
    return {.bytes = word & kBytesMask,
            .plan = static_cast<std::uint8_t>(word >> 48),
            .state = static_cast<CallState>(word >> 56)};
  }
};

enum class Life : std::uint64_t { none, alive, left };

// Everything but the rings. Within the process it is read and written under the logbook's mutex; `life` and `ended` are
// stored last, for readers outside.
struct SideHead {
  Word life;
  Word ended;  // 1 + the code; 0: it has not ended
  std::uint64_t communicator;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t member_count;
  std::uint32_t reserved;
  std::array<char, kNameBytes> host;
  std::array<char, transport::kReasonBytes> reason;
};

struct MemberSlot {
  std::uint32_t pid;
  std::array<char, kNameBytes - 4> host;
};

// Pages of memory exist once they are touched, so a small communicator takes a small part of this.
struct alignas(4096) SidePage {
  SideHead head;
  alignas(4096) std::array<MemberSlot, kMembersMax> members;
  alignas(4096) std::array<CallSlot, kRing> collectives;  // by their turn
  alignas(4096) std::array<CallSlot, kRing> messages;     // between two ranks, by the order of their first record
};

struct SegmentHead {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t page_bytes;
  std::uint32_t pages;
  std::uint32_t ring;
  std::uint32_t pid;
  std::uint32_t tick_source;
  std::uint64_t ticks;    // two names of one moment
  std::uint64_t time_ns;  // of os::now()
  std::array<char, kNameBytes> program;
  std::array<std::array<char, kPlanNameBytes>, kPlansMax> plans;  // names of algorithms
};
static_assert(sizeof(SegmentHead) <= kHeadBytes);

inline constexpr std::size_t kSegmentBytes = kHeadBytes + kPagesMax * sizeof(SidePage);

}  // namespace tutti::comm::watch
