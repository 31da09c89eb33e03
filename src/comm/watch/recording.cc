#include "comm/watch/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::comm::watch {

namespace {

constexpr std::array<std::string_view, 6> kStateNames = {"none", "queued", "entered", "running", "done", "failed"};

// CallSlot as plain numbers.
struct CallWords {
  std::uint64_t stamp, started, finished, count, what, detail, where, state;
};
static_assert(sizeof(CallWords) == sizeof(CallSlot));

template <class T>
T load(std::span<const std::uint64_t> copy, std::size_t at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(copy.data()) + at, sizeof(T));
  return value;
}

// Up to the first zero, and only what prints: the text goes to terminals.
template <std::size_t kBytes>
std::string text_of(const std::array<char, kBytes>& chars) {
  std::string text(chars.data(), ::strnlen(chars.data(), kBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text;
}

double seconds(Time time) { return static_cast<double>(time.ns) * 1e-9; }

struct Scale {
  os::TickPoint first;
  os::TickPoint taken;
  double of(std::uint64_t ticks) const { return seconds(os::time_of(ticks, first, taken)); }
};

Rank rank_of(std::uint32_t number, Rank size) {
  return number < static_cast<std::uint32_t>(size) ? static_cast<Rank>(number) : kNoRank;
}

std::optional<RecordedCall> call_of(const SegmentHead& head, const CallWords& words, const Scale& scale, Rank size) {
  const State state = State::unpack(words.state);
  const Where where = Where::unpack(words.where);
  if (state.state == CallState::none || static_cast<std::size_t>(state.state) >= kStateNames.size()) return {};
  RecordedCall call{.number = where.number,
                    .key = {.count = words.count, .what = words.what, .detail = words.detail},
                    .state = state.state,
                    .bytes = state.bytes,
                    .started_s = scale.of(words.started)};
  if (where.track > 0) {
    call.other = rank_of((where.track - 1u) / 2, size);
    call.is_sender = (where.track - 1u) % 2 == 1;
    if (call.other == kNoRank) return {};
  }
  if (state.plan > 0 && state.plan <= kPlansMax) call.plan = text_of(head.plans[state.plan - 1u]);
  if (words.finished != 0) call.finished_s = scale.of(words.finished);
  if (where.waits_for > 0) call.waits_for = rank_of(where.waits_for - 1u, size);
  return call;
}

void add_calls(Recording& recording, const SegmentHead& head, const PageCopies& copies, std::size_t ring_at,
               const Scale& scale) {
  for (std::size_t i = 0; i < kRing; ++i) {
    const auto words = load<CallWords>(copies.first, ring_at + i * sizeof(CallSlot));
    const auto later = load<CallWords>(copies.second, ring_at + i * sizeof(CallSlot));
    if (words.stamp == 0 || words.stamp != later.stamp) continue;
    if (auto call = call_of(head, words, scale, recording.size)) recording.calls.push_back(*std::move(call));
  }
}

}  // namespace

std::string_view name_of(CallState state) {
  const auto index = static_cast<std::size_t>(state);
  return index < kStateNames.size() ? kStateNames[index] : "unknown";
}

std::optional<CallState> call_state_of(std::string_view name) {
  const auto found = std::find(kStateNames.begin(), kStateNames.end(), name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<CallState>(found - kStateNames.begin());
}

std::string RecordedCall::text() const {
  if (other == kNoRank) return describe(key);
  const std::string message = describe(key);  // "send from 0 to 1 of 5 int32", with the ranks of its channel
  const std::size_t what = message.find(" of ");
  return fmt::format("{}{} {} rank {}", is_sender ? "send" : "receive",
                     what == std::string::npos ? "" : message.substr(what), is_sender ? "to" : "from", other);
}

std::string Recording::name_of_rank(Rank other) const {
  if (other == rank) return fmt::format("rank {} (pid {} on {})", rank, pid, host);
  if (other < 0 || static_cast<std::size_t>(other) >= members.size()) return fmt::format("rank {}", other);
  const RecordedMember& member = members[static_cast<std::size_t>(other)];
  return fmt::format("rank {} (pid {} on {})", other, member.pid, member.host);
}

std::optional<Recording> decode(const SegmentHead& head, const PageCopies& copies, const os::TickPoint& taken) {
  if (copies.first.size() * 8 < sizeof(SidePage) || copies.second.size() * 8 < sizeof(SidePage)) return {};
  const auto side = [&](std::size_t at) { return load<std::uint64_t>(copies.first, at); };
  const auto life = static_cast<Life>(side(offsetof(SideHead, life)));
  if (life != Life::alive && life != Life::left) return {};
  const auto rank = load<std::uint32_t>(copies.first, offsetof(SideHead, rank));
  const auto size = load<std::uint32_t>(copies.first, offsetof(SideHead, size));
  const auto member_count = load<std::uint32_t>(copies.first, offsetof(SideHead, member_count));
  if (size == 0 || size > kRanksMax || rank >= size || member_count > std::min(size, kMembersMax)) return {};
  Recording recording{.communicator = side(offsetof(SideHead, communicator)),
                      .rank = static_cast<Rank>(rank),
                      .size = static_cast<Rank>(size),
                      .pid = static_cast<int>(head.pid),
                      .host = text_of(load<decltype(SideHead::host)>(copies.first, offsetof(SideHead, host))),
                      .program = text_of(head.program),
                      .life = life,
                      .taken_s = seconds(taken.time)};
  if (const std::uint64_t ended = side(offsetof(SideHead, ended)); ended > 1) {
    recording.ended =
        ended - 1 <= static_cast<std::uint64_t>(Code::internal) ? static_cast<Code>(ended - 1) : Code::internal;
    recording.reason = text_of(load<decltype(SideHead::reason)>(copies.first, offsetof(SideHead, reason)));
  }
  for (std::uint32_t i = 0; i < member_count; ++i) {
    const auto member = load<MemberSlot>(copies.first, offsetof(SidePage, members) + i * sizeof(MemberSlot));
    recording.members.push_back({static_cast<int>(member.pid), text_of(member.host)});
  }
  const Scale scale{{head.ticks, {head.time_ns}}, taken};
  add_calls(recording, head, copies, offsetof(SidePage, collectives), scale);
  add_calls(recording, head, copies, offsetof(SidePage, messages), scale);
  std::stable_sort(recording.calls.begin(), recording.calls.end(),
                   [](const RecordedCall& a, const RecordedCall& b) { return a.started_s < b.started_s; });
  return recording;
}

Status validate(const SegmentHead& head) {
  if (head.magic != kMagic) return invalid_argument("this is no flight recorder of Tutti");
  if (head.version != kVersion) {
    return {Code::unsupported, fmt::format("the flight recorder has format {}, this tutti reads {}; use the command of "
                                           "the version that the process runs",
                                           head.version, kVersion)};
  }
  const bool fits = head.page_bytes == sizeof(SidePage) && head.pages == kPagesMax && head.ring == kRing &&
                    head.tick_source <= static_cast<std::uint32_t>(os::TickSource::counter);
  if (!fits) return invalid_argument("the head of the flight recorder is damaged");
  return {};
}

}  // namespace tutti::comm::watch
