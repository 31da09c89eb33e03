#include "bootstrap/env/meeting_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/knobs.h"
#include "bootstrap/env/kept_store.h"
#include "bootstrap/identifier.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/store/tcp_store.h"
#include "os/clock.h"
#include "os/environment.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {
namespace {

using namespace std::chrono_literals;

// Rank 0 is often the first to know all it needs. This is the longest that its end waits for the others.
constexpr std::chrono::nanoseconds kLinger = 2s;
constexpr std::chrono::nanoseconds kLook = 1ms;
// How long a rank waits before it looks again whether rank 0 listens by now.
constexpr std::chrono::nanoseconds kFirstPause = 10ms;
constexpr std::chrono::nanoseconds kLongestPause = 500ms;
// How long an attempt takes at most: twice the time of one before that got no answer, since the network may be slow.
constexpr std::chrono::nanoseconds kFirstAttempt = 500ms;
constexpr std::chrono::nanoseconds kLongestAttempt = 8s;
// Instead of an identifier, none of which begins so.
constexpr std::string_view kFailure = "failure:";
constexpr char kBlank = '~';  // stands for a blank, which not everything passes on

bool is_earlier(const Deadline& one, const Deadline& other) { return one.at < other.at; }

void linger(MeetingPoint& point) {
  const Deadline deadline = Deadline::after(os::now(), kLinger);
  while (!point.is_store_unused() && !deadline.has_passed(os::now())) std::this_thread::sleep_for(kLook);
}

// Rank 0's own store, which ends the meeting point with it.
Result<std::unique_ptr<Store>> open_own(std::unique_ptr<MeetingPoint> own, Deadline deadline) {
  TUTTI_ASSIGN(const MeetingAddress address, read_identifier(own->identifier()));
  TUTTI_ASSIGN(auto store, open_tcp_store(address, deadline));
  const std::shared_ptr<MeetingPoint> point = std::move(own);  // shared: a function can be copied
  return create_kept_store(std::move(store), [point] { linger(*point); });
}

Result<std::unique_ptr<MeetingPoint>> open_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return MeetingPoint::open(knobs);
}

std::string failure_text(const Status& status) {
  std::string text = fmt::format("{}{}", kFailure, status.text());
  std::ranges::replace(text, ' ', kBlank);
  return text;
}

Status failure_of(std::string text) {
  std::ranges::replace(text, kBlank, ' ');
  return {Code::network, fmt::format("rank 0 could not open a meeting point: {}", text.substr(kFailure.size()))};
}

Status not_there(const Status& last) {
  return {Code::timed_out, fmt::format("rank 0 could not be met in time; has it been started with the same variables, "
                                       "and can its host be reached? (last: {})",
                                       last.text())};
}

// What may be another way a moment later.
bool may_pass(const Status& status) {
  return status.code() == Code::peer_lost || status.code() == Code::network || status.code() == Code::timed_out;
}

// Nobody may listen there yet. Who comes while rank 0 is still opening the meeting point may never get an answer, so
// that an attempt is given up for a new one, with more time each.
Result<std::unique_ptr<Store>> open_patiently(const MeetingAddress& address, Deadline deadline) {
  std::chrono::nanoseconds pause = kFirstPause;
  std::chrono::nanoseconds attempt = kFirstAttempt;
  while (true) {
    const Deadline soon = Deadline::after(os::now(), attempt);
    auto store = open_tcp_store(address, std::min(soon, deadline, is_earlier));
    if (store || !may_pass(store.status())) return store;
    if (deadline.has_passed(os::now())) return not_there(store.status());
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    if (store.status().code() != Code::peer_lost) attempt = std::min(2 * attempt, kLongestAttempt);
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_broadcast_store(Rank rank, const Broadcast& broadcast, Deadline deadline) {
  if (rank == 0) {
    auto point = open_point();
    const auto given = broadcast(point ? (*point)->identifier().text() : failure_text(point.status()));
    TUTTI_TRY(point.status());
    TUTTI_TRY(given.status());
    return open_own(*std::move(point), deadline);
  }
  TUTTI_ASSIGN(const std::string text, broadcast(""));
  if (text.starts_with(kFailure)) return failure_of(text);
  TUTTI_ASSIGN(const Identifier identifier, Identifier::parse(text));
  TUTTI_ASSIGN(const MeetingAddress address, read_identifier(identifier));
  return open_tcp_store(address, deadline);
}

Result<std::unique_ptr<Store>> open_store_at(const std::string& address, Rank rank, Deadline deadline) {
  TUTTI_ASSIGN(const Identifier identifier, Identifier::of_address(address));
  if (rank == 0) {
    TUTTI_ASSIGN(auto point, MeetingPoint::open_at(identifier));
    return open_own(std::move(point), deadline);
  }
  TUTTI_ASSIGN(const MeetingAddress meeting, read_identifier(identifier));
  return open_patiently(meeting, deadline);
}

}  // namespace tutti::bootstrap
