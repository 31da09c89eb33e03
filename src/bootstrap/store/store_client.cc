#include "bootstrap/store/store_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bootstrap/membership/roster.h"
#include "bootstrap/store/execute.h"

namespace tutti::bootstrap {
namespace {

// A lost connection is made again soon, since most come back at once, and then less often.
constexpr std::chrono::nanoseconds kFirstPause = std::chrono::milliseconds(20);
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::seconds(2);

std::uint64_t left_of(Deadline deadline, Time now) { return deadline.has_passed(now) ? 0 : deadline.at.ns - now.ns; }

}  // namespace

void StoreClient::ask(Request request, const Patience& patience, Done done) {
  if (calls_.size() == kCallsMax)
    return done(Status(Code::invalid_usage, fmt::format("{} threads use the store at {} at once, and that is the limit "
                                                        "of one process",
                                                        kCallsMax, addresses_text(server_))));
  const auto call = calls_.emplace(next_number_++, Pending{std::move(request), patience, std::move(done)}).first;
  if (!retry_at_) send(*call);
  wake_in_time();
}

void StoreClient::send(const Calls::value_type& call) {
  const auto& [number, pending] = call;
  const auto oldest =
      std::ranges::find_if(calls_, [](const auto& each) { return is_change(each.second.request.kind); });
  world_.send(server_, message_of(StoreCall{.number = number,
                                            .oldest = oldest == calls_.end() ? number : std::min(oldest->first, number),
                                            .wait_ns = left_of(pending.patience.wait, world_.now()),
                                            .request = pending.request}));
}

void StoreClient::receive(ActorId from, std::span<const std::byte> message) {
  if (from != server_.id) return;
  auto answer = parse_answer(message);
  if (!answer) return;
  retry_pause_ = {};
  doubt_ = {};
  finish(calls_.extract(answer->number), std::move(answer->reply));
}

void StoreClient::finish(Calls::node_type call, Result<Reply> result) {
  if (!call.empty()) call.mapped().done(std::move(result));  // empty: answered before, and asked twice
}

void StoreClient::lost(ActorId actor, const Status& why) {
  if (actor != server_.id) return;
  doubt_ = why;
  if (why.code() == Code::peer_lost) {
    retry_at_.reset();
    const Status gone(Code::peer_lost, fmt::format("the store at {} is gone: the process that served it has ended ({})",
                                                   addresses_text(server_), why.text()));
    Calls calls = std::exchange(calls_, {});  // who hears of it may ask again
    while (!calls.empty()) finish(calls.extract(calls.begin()), gone);
    return;
  }
  retry_pause_ = std::clamp(2 * retry_pause_, kFirstPause, kLongestPause);
  retry_at_ = Deadline::after(world_.now(), retry_pause_).at;
  wake_in_time();
}

Status StoreClient::no_answer() const {
  const std::string reason = doubt_ ? "is its process stopped?" : std::string(doubt_.text());
  return {Code::network, fmt::format("the store at {} has not answered in time: {}", addresses_text(server_), reason)};
}

void StoreClient::wake() {
  const Time now = world_.now();
  std::vector<std::uint64_t> late;
  for (const auto& [number, pending] : calls_)
    if (pending.patience.reply.has_passed(now)) late.push_back(number);
  for (const std::uint64_t number : late) finish(calls_.extract(number), no_answer());
  if (retry_at_ && now >= *retry_at_) {
    retry_at_.reset();
    for (const auto& call : calls_) send(call);
  }
  wake_in_time();
}

void StoreClient::wake_in_time() {
  Time next = retry_at_.value_or(Deadline::never().at);
  for (const auto& [number, pending] : calls_) next = std::min(next, pending.patience.reply.at);
  if (next != Deadline::never().at) world_.wake_at(next);
}

}  // namespace tutti::bootstrap
