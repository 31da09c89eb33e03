#include "comm/watch/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace tutti::comm::watch {

namespace {

// The call of a reason as mismatch_text() in blame.cc writes it; 0: it is another reason.
std::uint32_t mismatched_call(std::string_view reason) {
  const auto words = text::words(reason);
  const bool is_mismatch = words.size() > 2 && words[0] == "call" && reason.find("is not the same") != reason.npos;
  return is_mismatch ? text::integer_of<std::uint32_t>(words[1]).value_or(0) : 0;
}

// Those that are named as in "rank 3 (pid 4711 on node7)", ascending.
std::vector<Rank> ranks_in(std::string_view reason) {
  const auto words = text::words(reason);
  std::set<Rank> ranks;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "rank" || words[i + 2] != "(pid") continue;
    if (const auto rank = text::integer_of<Rank>(words[i + 1])) ranks.insert(*rank);
  }
  return {ranks.begin(), ranks.end()};
}

// A call that has been waiting for this long, on its own rank's clock, is worth a look. Recordings of ranks that run
// are taken one after the other, and in less time than this a rank may have gone on.
constexpr double kLong_s = 1;

// The calls of one track of one rank, by number. Only those that entered have one.
using Calls = std::map<std::uint32_t, const RecordedCall*>;

Calls collectives_of(const Recording& recording) {
  Calls calls;
  for (const RecordedCall& call : recording.calls) {
    if (call.other == kNoRank && call.number > 0) calls[call.number] = &call;
  }
  return calls;
}

Calls messages_of(const Recording& recording, Rank other, bool is_sender) {
  Calls calls;
  for (const RecordedCall& call : recording.calls) {
    if (call.other == other && call.is_sender == is_sender && call.number > 0) calls[call.number] = &call;
  }
  return calls;
}

bool is_pending(const RecordedCall& call) { return call.number > 0 && call.state != CallState::done; }

// Whether a rank waits in this call and not only runs it at the moment of the recording.
bool waits(const Recording& recording, const RecordedCall& call) {
  if (!is_pending(call)) return false;
  return call.state == CallState::failed || recording.ended || recording.taken_s - call.started_s > kLong_s;
}

std::string number_text(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

class Diagnosis {
 public:
  explicit Diagnosis(const Job& job) : job_(job) {
    for (const Recording& recording : job.recordings) collectives_[recording.rank] = collectives_of(recording);
  }

  std::vector<Finding> findings() {
    if (find_mismatch() || find_mismatched_message() || find_told_mismatch()) return std::move(findings_);
    find_dead();
    find_behind();
    if (findings_.empty()) find_stuck_messages();
    if (findings_.empty()) find_ring();
    if (findings_.empty()) find_reason();
    return std::move(findings_);
  }

 private:
  void add(Trouble trouble, std::vector<Rank> ranks, std::uint32_t call, std::string text) {
    findings_.push_back({job_.communicator, trouble, std::move(ranks), call, std::move(text)});
  }

  const Recording* find(Rank rank) const {
    const auto found = std::find_if(job_.recordings.begin(), job_.recordings.end(),
                                    [&](const Recording& recording) { return recording.rank == rank; });
    return found == job_.recordings.end() ? nullptr : &*found;
  }

  std::string name_of_rank(Rank rank) const {
    const Recording* own = find(rank);
    return own != nullptr ? own->name_of_rank(rank) : job_.recordings.front().name_of_rank(rank);
  }

  // The first call that is not the same everywhere. Those that make what fewer ranks make are named as culprits.
  bool find_mismatch() {
    std::map<std::uint32_t, std::vector<std::pair<Rank, const RecordedCall*>>> by_number;
    for (const auto& [rank, calls] : collectives_) {
      for (const auto& [number, call] : calls) by_number[number].emplace_back(rank, call);
    }
    for (const auto& [number, calls] : by_number) {
      const auto& usual = usual_of(calls);
      std::vector<Rank> others;
      const RecordedCall* other = nullptr;
      for (const auto& [rank, call] : calls) {
        if (call->key == usual.second->key) continue;
        others.push_back(rank);
        if (other == nullptr) other = call;
      }
      if (others.empty()) continue;
      add(Trouble::mismatch, others, number,
          fmt::format("call {} is not the same everywhere: {} calls {}, {} calls {} ({}){}; all ranks must make the "
                      "same calls in the same order",
                      number, name_of_rank(usual.first), usual.second->text(), name_of_rank(others.front()),
                      other->text(), difference(usual.second->key, other->key), and_others(others)));
      return true;
    }
    return false;
  }

  static std::string and_others(const std::vector<Rank>& ranks) {
    return ranks.size() < 2 ? ""
                            : fmt::format("; {} differ: {}", number_text(ranks.size(), "rank"), text::list_text(ranks));
  }

  static const std::pair<Rank, const RecordedCall*>& usual_of(
      const std::vector<std::pair<Rank, const RecordedCall*>>& calls) {
    const auto votes = [&](const auto& entry) {
      return std::count_if(calls.begin(), calls.end(),
                           [&](const auto& other) { return other.second->key == entry.second->key; });
    };
    return *std::max_element(calls.begin(), calls.end(),
                             [&](const auto& a, const auto& b) { return votes(a) < votes(b); });
  }

  bool find_mismatched_message() {
    for (const Recording& sender : job_.recordings) {
      for (const Recording& receiver : job_.recordings) {
        const Calls sent = messages_of(sender, receiver.rank, true);
        if (sent.empty()) continue;
        const Calls received = messages_of(receiver, sender.rank, false);
        for (const auto& [number, call] : sent) {
          const auto theirs = received.find(number);
          if (theirs == received.end() || theirs->second->key == call->key) continue;
          add(Trouble::mismatch, {sender.rank, receiver.rank}, number,
              fmt::format("message {} from {} to {} is not the same on both: {} against {} ({})", number,
                          name_of_rank(sender.rank), name_of_rank(receiver.rank), call->text(), theirs->second->text(),
                          difference(call->key, theirs->second->key)));
          return true;
        }
      }
    }
    return false;
  }

  // Ranks without a recording that others name in their reason or wait for.
  void find_dead() {
    for (const Rank rank : job_.missing) {
      const auto [witness, call] = find_waiting_for(rank);
      const Recording* accuser = find_accuser(rank);
      if (witness == nullptr && accuser == nullptr) continue;
      const bool is_known_dead = accuser != nullptr && accuser->ended == Code::peer_lost;
      std::string text = fmt::format("{} {}", (accuser != nullptr ? accuser : witness)->name_of_rank(rank),
                                     is_known_dead ? "has died" : "left no recording: it has died or is out of reach");
      if (accuser != nullptr) {
        text += fmt::format("; {} says: {}", name_of_rank(accuser->rank), accuser->reason);
      } else {
        text +=
            fmt::format("; {} waits for it in call {}, {}", name_of_rank(witness->rank), call->number, call->text());
      }
      add(Trouble::died, {rank}, call != nullptr ? call->number : 0, text);
    }
  }

  std::pair<const Recording*, const RecordedCall*> find_waiting_for(Rank rank) const {
    for (const Recording& recording : job_.recordings) {
      for (const RecordedCall& call : recording.calls) {
        if (call.waits_for == rank && waits(recording, call)) return {&recording, &call};
      }
    }
    return {nullptr, nullptr};
  }

  // Somebody whose reason blames the rank: "... for rank 3 (pid 4711 on node7), which has died".
  const Recording* find_accuser(Rank rank) const {
    const std::string blame = fmt::format("for rank {} (", rank);
    for (const Recording& recording : job_.recordings) {
      if (recording.ended && recording.reason.find(blame) != std::string::npos) return &recording;
    }
    return nullptr;
  }

  // Somebody waits in a call that others have not made.
  void find_behind() {
    const Recording* front = nullptr;
    std::uint32_t furthest = 0;
    for (const auto& [rank, calls] : collectives_) {
      if (calls.empty() || calls.rbegin()->first <= furthest) continue;
      const Recording* recording = find(rank);
      if (!waits(*recording, *calls.rbegin()->second)) continue;
      front = recording;
      furthest = calls.rbegin()->first;
    }
    if (front == nullptr) return;
    const RecordedCall& call = *collectives_[front->rank].rbegin()->second;
    for (const auto& [rank, calls] : collectives_) {
      const std::uint32_t last = calls.empty() ? 0 : calls.rbegin()->first;
      if (last >= furthest) continue;
      const std::string where =
          fmt::format("while {} waits in call {}, {}", name_of_rank(front->rank), furthest, call.text());
      if (last == 0) {
        add(Trouble::never_arrived, {rank}, furthest,
            fmt::format("{} has made no call yet, {}", name_of_rank(rank), where));
        continue;
      }
      const RecordedCall& theirs = *calls.rbegin()->second;
      const bool is_in_it = is_pending(theirs);
      add(Trouble::behind, {rank}, furthest,
          fmt::format("{} is behind by {}: {} call {}, {}, {}", name_of_rank(rank),
                      number_text(furthest - last, "call"), is_in_it ? "it is still in" : "its last was", last,
                      theirs.text(), where));
    }
  }

  // Somebody waits for the other end of a message, which has made fewer of them.
  void find_stuck_messages() {
    for (const Recording& recording : job_.recordings) {
      for (const RecordedCall& call : recording.calls) {
        if (call.other == kNoRank || !waits(recording, call)) continue;
        const Recording* other = find(call.other);
        if (other == nullptr || messages_of(*other, recording.rank, !call.is_sender).contains(call.number)) continue;
        add(Trouble::behind, {call.other}, call.number,
            fmt::format("{} has not made its end of message {}, while {} waits in {}", name_of_rank(call.other),
                        call.number, name_of_rank(recording.rank), call.text()));
        return;
      }
    }
  }

  // All are in the same call, and it does not go on: whoever waits for nobody holds it up.
  void find_ring() {
    std::vector<Rank> busy;
    std::uint32_t number = 0;
    const RecordedCall* what = nullptr;
    for (const auto& [rank, calls] : collectives_) {
      if (calls.empty() || !waits(*find(rank), *calls.rbegin()->second)) continue;
      what = calls.rbegin()->second;
      number = calls.rbegin()->first;
      if (what->waits_for == kNoRank) busy.push_back(rank);
    }
    const bool has_explanation = std::any_of(job_.recordings.begin(), job_.recordings.end(),
                                             [](const Recording& recording) { return recording.ended.has_value(); });
    if (what == nullptr || (has_explanation && busy.size() != 1)) return;
    const bool has_culprit = busy.size() == 1;
    add(Trouble::stuck, busy, number,
        fmt::format("call {}, {}, does not go on{}", number, what->text(),
                    has_culprit ? fmt::format(": {} is in it and waits for nobody, so look what it does",
                                              name_of_rank(busy.front()))
                                : std::string(" although all ranks that were seen are in it")));
  }

  // A rank that made another call may have gone on and left in peace, so that only the reason of the others knows.
  bool find_told_mismatch() {
    for (const Recording& recording : job_.recordings) {
      const std::uint32_t call = recording.ended ? mismatched_call(recording.reason) : 0;
      if (call == 0) continue;
      add(Trouble::mismatch, ranks_in(recording.reason), call, recording.reason);
      return true;
    }
    return false;
  }

  // Nothing else explains it, and it has ended.
  void find_reason() {
    for (const Recording& recording : job_.recordings) {
      if (!recording.ended) continue;
      add(Trouble::ended, {}, 0,
          fmt::format("the communicator ended ({}): {}", tutti::name_of(*recording.ended), recording.reason));
      return;
    }
  }

  const Job& job_;
  std::map<Rank, Calls> collectives_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view name_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::mismatch: return "mismatch";
    case Trouble::died: return "died";
    case Trouble::behind: return "behind";
    case Trouble::never_arrived: return "never_arrived";
    case Trouble::stuck: return "stuck";
    case Trouble::ended: return "ended";
  }
  return "unknown";
}

std::vector<Job> jobs_of(std::vector<Recording> recordings) {
  std::map<std::uint64_t, std::map<Rank, Recording>> by_communicator;
  for (Recording& recording : recordings) {
    auto& ranks = by_communicator[recording.communicator];
    const auto found = ranks.find(recording.rank);
    if (found != ranks.end() && found->second.taken_s > recording.taken_s) continue;
    ranks[recording.rank] = std::move(recording);
  }
  std::vector<Job> jobs;
  for (auto& [communicator, ranks] : by_communicator) {
    Job job{.communicator = communicator, .size = 0, .recordings = {}, .missing = {}};
    for (const auto& [rank, recording] : ranks) job.size = std::max(job.size, recording.size);
    for (Rank rank = 0; rank < job.size; ++rank) {
      if (!ranks.contains(rank)) job.missing.push_back(rank);
    }
    for (auto& [rank, recording] : ranks) job.recordings.push_back(std::move(recording));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<Finding> diagnose(const Job& job) { return Diagnosis(job).findings(); }

}  // namespace tutti::comm::watch
