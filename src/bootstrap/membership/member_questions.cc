// Questions from one member to another.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "bootstrap/membership/member.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kAskedMax = 4096;  // whoever asks more at once has lost count

}  // namespace

void Member::ask(Rank rank, std::span<const std::byte> bytes, Deadline deadline, AnswerSink sink) {
  const Time now = world_.now();
  Asked asked{rank, Bytes(bytes.begin(), bytes.end()), deadline, now, now, std::move(sink)};
  if (asked_.size() < kAskedMax) {
    asked_.emplace(++ask_count_, std::move(asked));
    return wake_in_time();
  }
  asked.sink(Status(Code::invalid_usage, fmt::format("{} questions have no answer yet; ask less", kAskedMax)));
}

void Member::answered(Rank from, const Answer& answer) {
  const auto found = asked_.find(answer.id);
  if (found == asked_.end() || found->second.rank != from) return;
  const AnswerSink sink = std::move(found->second.sink);
  asked_.erase(found);
  sink(answer.bytes);
}

void Member::look_at_questions() {
  const Time now = world_.now();
  fail_questions([&](const Asked& asked) { return asked.rank < 0 || asked.rank >= roster_.size(); },
                 [&](const Asked& asked) {
                   return invalid_argument(fmt::format("rank {} is not one of {} ranks", asked.rank, roster_.size()));
                 });
  fail_questions([&](const Asked& asked) { return asked.question.size() > kAnswerBytesMax; },
                 [&](const Asked& asked) {
                   return invalid_argument(fmt::format("a question to rank {} has {} bytes; it can have at most {}",
                                                       asked.rank, asked.question.size(), kAnswerBytesMax));
                 });
  fail_questions([&](const Asked& asked) { return certain_.contains(asked.rank); },
                 [&](const Asked& asked) {
                   return Status(Code::peer_lost, sentence_of(gone_.at(asked.rank)), Scope::communicator);
                 });
  fail_questions([&](const Asked& asked) { return asked.deadline.has_passed(now); },
                 [&](const Asked& asked) {
                   const double waited = static_cast<double>(now.ns - asked.began.ns) * 1e-9;
                   return Status(Code::timed_out,
                                 fmt::format("{} did not answer within {}; its process is stopped or busy, or its host "
                                             "is cut off",
                                             rank_text(roster_, asked.rank), text::seconds_text(waited)));
                 });
  for (auto& [id, asked] : asked_) {
    if (now < asked.send_at) continue;
    asked.send_at = Deadline::never().at;  // until something gets lost
    tell(asked.rank, Question{id, asked.question});
  }
}

void Member::fail_questions(const std::function<bool(const Asked&)>& which,
                            const std::function<Status(const Asked&)>& why) {
  std::vector<std::pair<AnswerSink, Status>> failed;
  for (auto asked = asked_.begin(); asked != asked_.end();) {
    if (!which(asked->second)) {
      ++asked;
      continue;
    }
    failed.emplace_back(std::move(asked->second.sink), why(asked->second));
    asked = asked_.erase(asked);
  }
  for (const auto& [sink, status] : failed) sink(status);
}

}  // namespace tutti::bootstrap
