#include "comm/network_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/log.h"
#include "comm/abroad.h"
#include "comm/blame.h"
#include "comm/probe.h"
#include "comm/room.h"
#include "os/clock.h"

namespace tutti::comm {

namespace {

// A start shall not take longer the more hosts there are.
constexpr std::size_t kPartnersMax = 3;
constexpr std::chrono::nanoseconds kMeasureFor = std::chrono::milliseconds(60);
constexpr std::size_t kSentenceBytesMax = 400;

std::chrono::nanoseconds time_until(Deadline deadline) {
  const std::uint64_t now_ns = os::now().ns;
  constexpr std::uint64_t kLongest = std::chrono::nanoseconds(std::chrono::hours(24)).count();
  return std::chrono::nanoseconds(deadline.at.ns > now_ns ? std::min(deadline.at.ns - now_ns, kLongest) : 0);
}

// The two ranks that measure have a communicator of their own for a moment.
Result<std::unique_ptr<Side>> make_probe(const Side& side, Rank partner, const std::shared_ptr<Job>& job,
                                         const std::vector<ActorId>& actors, Deadline deadline) {
  Membership membership{.rank = side.rank() == 0 ? 0 : 1, .hosts = {0, 1}, .machine = side.machine()};
  membership.machine.ranks = 2;
  TUTTI_ASSIGN(membership.layout, SideLayout::within(side.options().memory_limit, 2));
  membership.own_bytes = membership.layout.bytes();
  TUTTI_ASSIGN(membership.own, make_private_room(membership.own_bytes));
  std::vector<ActorId> ends;
  for (const Rank rank : {Rank{0}, partner}) {
    transport::Member member = side.peers()[static_cast<std::size_t>(rank)];
    member.rank = static_cast<Rank>(ends.size());
    ends.push_back(actors[static_cast<std::size_t>(rank)]);
    membership.memories.push_back(rank == side.rank() ? membership.own.get() : nullptr);
    membership.peers.push_back(std::move(member));
  }
  CommunicatorOptions options = side.options();
  options.rank = membership.rank;
  options.size = 2;
  options.store += " (measuring)";  // for the flight recorder: not one of the program's communicators
  options.algorithm.clear();
  options.allowed.clear();
  options.timeout = time_until(deadline) / 2;  // the rest is for telling all ranks that it did not work
  return std::make_unique<Side>(std::move(membership), options, [&](Side& probe, Links::Shape shape) {
    shape.communicator = ~ends[1].value;  // that of the job has the name of rank 0, without the tilde
    return std::make_unique<Abroad>(job, ends, probe, shape);
  });
}

// On rank 0.
Result<NetworkRates> measure_with_all(const Side& side, const std::shared_ptr<Job>& job,
                                      const std::vector<ActorId>& actors, const std::vector<Rank>& partners,
                                      Deadline deadline) {
  NetworkRates slowest;
  for (const Rank partner : partners) {
    const std::string name = name_of_peer(side.peers()[static_cast<std::size_t>(partner)]);
    log::write(LogLevel::info, 0, LogArea::plans, [&] { return fmt::format("measuring the network with {}", name); });
    TUTTI_ASSIGN(const auto probe, make_probe(side, partner, job, actors, deadline));
    const auto measured = measure_network(*probe, kMeasureFor / partners.size());
    if (const std::string why = job->why_gone(actors[static_cast<std::size_t>(partner)]); !why.empty()) {
      return Status(Code::peer_lost, fmt::format("{}, with which rank 0 measured, {}", name, why));
    }
    if (!measured) {
      log::write(LogLevel::warning, 0,
                 fmt::format("the network could not be measured with {}: {}", name, measured.status().text()));
      return NetworkRates{};
    }
    log::write(LogLevel::info, 0, LogArea::plans,
               [&] { return fmt::format("the network, measured with {}: {}", name, measured->text()); });
    slowest = slowest.is_known() ? slower_of(slowest, *measured) : *measured;
  }
  return slowest;
}

}  // namespace

std::vector<Rank> probe_partners(const std::vector<Rank>& host_of) {
  std::vector<Rank> firsts;  // of each host
  for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
    if (static_cast<std::size_t>(host_of[rank]) == firsts.size()) firsts.push_back(static_cast<Rank>(rank));
  }
  const std::size_t others = firsts.size() - 1;
  if (others <= kPartnersMax) return {firsts.begin() + 1, firsts.end()};
  std::vector<Rank> partners;
  for (std::size_t i = 0; i < kPartnersMax; ++i) {
    partners.push_back(firsts[1 + i * (others - 1) / (kPartnersMax - 1)]);
  }
  return partners;
}

NetworkRates slower_of(const NetworkRates& a, const NetworkRates& b) {
  return {.latency_s = std::max(a.latency_s, b.latency_s),
          .bytes_per_s = std::min(a.bytes_per_s, b.bytes_per_s),
          .message_s = std::max(a.message_s, b.message_s)};
}

Bytes pack_outcome(const Result<NetworkRates>& outcome) {
  Bytes bytes;
  append_number(bytes, static_cast<std::uint8_t>(outcome.status().code()));
  if (!outcome) {
    append(bytes, bytes_of(outcome.status().text().substr(0, kSentenceBytesMax)));
    return bytes;
  }
  for (const double number : {outcome->latency_s, outcome->bytes_per_s, outcome->message_s}) {
    append_number(bytes, std::bit_cast<std::uint64_t>(number));
  }
  return bytes;
}

Result<NetworkRates> parse_outcome(std::span<const std::byte> bytes) {
  const Status nonsense(Code::internal, "rank 0 told nonsense of the network; is it of another version?");
  ByteReader reader(bytes);
  std::uint8_t code = 0;
  if (!reader.read(code) || code > static_cast<std::uint8_t>(Code::internal)) return nonsense;
  if (code != 0) return Status(static_cast<Code>(code), std::string(text_of(reader.rest())));
  NetworkRates rates;
  for (double* const number : {&rates.latency_s, &rates.bytes_per_s, &rates.message_s}) {
    std::uint64_t bits = 0;
    if (!reader.read(bits)) return nonsense;
    *number = std::bit_cast<double>(bits);
  }
  if (!rates.is_sane()) return nonsense;
  return rates;
}

Status measure_together(Side& side, const std::shared_ptr<Job>& job, const std::vector<ActorId>& actors,
                        Deadline deadline) {
  std::vector<Rank> hosts;
  for (Rank rank = 0; rank < side.size(); ++rank) hosts.push_back(side.host_of(rank));
  const std::vector<Rank> partners = probe_partners(hosts);
  if (side.rank() == 0) {
    const auto outcome = measure_with_all(side, job, actors, partners, deadline);
    job->announce(pack_outcome(outcome));
    if (outcome) side.set_network(*outcome);
    return outcome.status();
  }
  if (std::find(partners.begin(), partners.end(), side.rank()) != partners.end()) {
    TUTTI_ASSIGN(const auto probe, make_probe(side, side.rank(), job, actors, deadline));
    log::write(LogLevel::info, side.rank(), LogArea::plans, "measuring the network with rank 0");
    // However this went, what rank 0 tells decides.
    const Status answered = answer_probe(*probe);
    if (!answered) log::write(LogLevel::debug, side.rank(), LogArea::plans, answered.text());
  }
  TUTTI_ASSIGN(const Bytes told, job->await_announcement(deadline));
  TUTTI_ASSIGN(const NetworkRates rates, parse_outcome(told));
  side.set_network(rates);
  return {};
}

}  // namespace tutti::comm
