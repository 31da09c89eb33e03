#include "tools/tutti/check/rank_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bootstrap/env/launch.h"
#include "os/clock.h"
#include "os/environment.h"
#include "tools/tutti/check/cluster_json.h"
#include "tools/tutti/check/party.h"
#include "tools/tutti/check/tournament.h"
#include "tools/tutti/ranks.h"

namespace tutti::tool::check {

namespace {

constexpr std::chrono::seconds kMeetWithin{60};  // hosts differ in how long python3 takes to answer
constexpr std::chrono::seconds kPairSlack{10};  // a pair that takes so much longer than planned is too slow to wait for
constexpr std::chrono::milliseconds kAllPairs{45'000};
constexpr std::chrono::milliseconds kBandwidthTimeLeast{20};

// At once, so that it is known whatever comes after.
void say(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

Result<PairNumbers> measure_with(Party& party, Rank partner, Rank round, const RankOptions& options,
                                 Deadline deadline) {
  TUTTI_ASSIGN(rpc::Conduit conduit, party.meet(partner, round, deadline));
  const Deadline end = Deadline::after(os::now(), time_of(options.effort) + kPairSlack);
  if (party.rank() < partner) return measure_pair(conduit, options.effort, end);
  TUTTI_TRY(answer_pair(conduit, end));
  return PairNumbers{};
}

void run_round(Party& party, Rank partner, Rank round, const RankOptions& options, Deadline deadline) {
  const bool measures = party.rank() < partner;
  Pair pair{.a = std::min(party.rank(), partner), .b = std::max(party.rank(), partner), .way = party.way_to(partner)};
  const auto numbers = measure_with(party, partner, round, options, deadline);
  if (!numbers) {
    pair.failure = numbers.status().text();
  } else {
    pair.latency_s = numbers->latency_s;
    pair.there_bytes_per_s = numbers->there_bytes_per_s;
    pair.back_bytes_per_s = numbers->back_bytes_per_s;
    pair.clock_offset_s = numbers->clock_offset_s;
  }
  if (measures || !numbers) say(line_of(pair));
}

Status run_rounds(const RankOptions& options) {
  TUTTI_ASSIGN(const auto launch, bootstrap::launch_of(os::environment_variable));
  if (!launch) return Status(Code::invalid_usage, "is started by 'tutti check -H', not by hand");
  say(line_of(look_here()));
  if (launch->size == 1) return {};
  TUTTI_ASSIGN(const auto party, Party::join(*launch, Deadline::after(os::now(), kMeetWithin)));
  const Deadline deadline = Deadline::after(os::now(), options.limit);
  for (Rank round = 0; round < round_count(party->size()); ++round) {
    const Rank partner = partner_of(party->rank(), round, party->size());
    if (partner != kRests) run_round(*party, partner, round, options, deadline);
  }
  return {};
}

}  // namespace

int run_rank(const RankOptions& options) {
  const RanksEnd end = run_ranks(1, [&](Rank) {
    const Status status = run_rounds(options);
    if (!status) say(failure_line(status.text()));
    return 0;
  });
  if (end.signal != 0) return 128 + end.signal;
  if (!end.status) say(failure_line("the process of the check there was killed before it was done"));
  return 0;
}

PairEffort effort_for(int host_count) {
  PairEffort effort;
  const Rank rounds = std::max<Rank>(round_count(host_count), 1);
  const auto fits = (kAllPairs / rounds - effort.ping_time) / 2;
  effort.bandwidth_time = std::clamp(fits, kBandwidthTimeLeast, effort.bandwidth_time);
  return effort;
}

std::chrono::milliseconds time_for(int host_count) { return time_of(effort_for(host_count)) * round_count(host_count); }

}  // namespace tutti::tool::check
