#include "comm/start_network.h"

#include <fmt/format.h>

#include "base/knobs.h"
#include "base/log.h"
#include "bootstrap/identifier.h"
#include "bootstrap/meeting_point.h"
#include "comm/abroad.h"
#include "comm/carrier.h"
#include "comm/network_measurement.h"
#include "comm/seating.h"
#include "os/clock.h"
#include "os/environment.h"
#include "transport/shm/mesh.h"

namespace tutti::comm {

namespace {

// A rank's card: what its host offers, how it stands to UCX, then its introduction.
struct Arrival {
  bootstrap::Offer offer;
  UcxStance stance = UcxStance::refused;
  Introduced introduced;
};

Bytes pack_card(const bootstrap::Offer& offer, UcxStance stance, const Introduction& introduction,
                std::span<const std::byte> card) {
  Bytes bytes;
  append_counted(bytes, bootstrap::encode(offer));
  append_number(bytes, static_cast<std::uint8_t>(stance));
  append(bytes, pack(introduction, card));
  return bytes;
}

Result<Arrival> parse_card(std::span<const std::byte> bytes, Rank rank) {
  ByteReader reader(bytes);
  const auto encoded = reader.counted(bootstrap::kOfferBytesMax);
  const auto stance = reader.number<std::uint8_t>();
  if (!encoded || !stance || *stance >= kUcxStances) {
    return Status(Code::invalid_usage,
                  fmt::format("the card of rank {} makes no sense; is it of another version?", rank));
  }
  Arrival arrival;
  TUTTI_ASSIGN(arrival.offer, bootstrap::decode_offer(*encoded));
  arrival.stance = static_cast<UcxStance>(*stance);
  TUTTI_ASSIGN(arrival.introduced, parse_introduction(reader.rest(), rank));
  return arrival;
}

// What ranks have to do alike.
void tell_settings(Introduction& mine, const Knobs& knobs, const NetworkRates& network) {
  mine.network = network;
  mine.wants_measure = knobs.measure() == MeasureChoice::automatic ? 1 : 0;
  mine.compression = knobs.compress();
  mine.rails_max = static_cast<std::uint8_t>(knobs.rails_max());
  mine.sockets_per_peer = static_cast<std::uint8_t>(knobs.sockets_per_peer());
}

// What one rank rounds another would take for what it is not.
Status compare_compressions(const std::vector<Arrival>& arrivals) {
  const auto compression_of = [&](std::size_t rank) { return arrivals[rank].introduced.introduction.compression; };
  const Knob& knob = all_knobs()[static_cast<std::size_t>(KnobId::compress)];
  const auto name_of = [&](WireCompression compression) {
    const auto index = static_cast<std::size_t>(compression);
    return index < knob.choices.size() ? knob.choices[index] : "unknown";
  };
  for (std::size_t rank = 1; rank < arrivals.size(); ++rank) {
    if (compression_of(rank) == compression_of(0)) continue;
    return Status(Code::invalid_usage,
                  fmt::format("{} is {} on rank 0 and {} on rank {}; give all ranks the same", knob.name,
                              name_of(compression_of(0)), name_of(compression_of(rank)), rank));
  }
  return {};
}

Status compare_settings(const std::vector<Arrival>& arrivals) {
  TUTTI_TRY(compare_compressions(arrivals));
  std::vector<Introduction> introductions;
  for (const Arrival& arrival : arrivals) introductions.push_back(arrival.introduced.introduction);
  return compare(introductions);
}

// Hosts in the order of their first ranks.
std::vector<Rank> hosts_of(const std::vector<bootstrap::Offer>& offers) {
  std::vector<Rank> hosts;
  std::vector<std::size_t> firsts;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    std::size_t host = 0;
    while (host < firsts.size() && !bootstrap::is_same_place(offers[firsts[host]], offers[rank]) &&
           firsts[host] != rank) {
      ++host;
    }
    if (host == firsts.size()) firsts.push_back(rank);
    hosts.push_back(static_cast<Rank>(host));
  }
  return hosts;
}

transport::Member member_abroad(const std::shared_ptr<Job>& job, const bootstrap::Participant& participant, Rank rank) {
  transport::Member member{
      .rank = rank, .pid = participant.process.pid, .host = participant.process.host, .is_remote = true};
  member.is_alive = [job, actor = participant.contact.id] { return job->why_gone(actor).empty(); };
  return member;
}

Status seat_all(Membership& membership, const std::shared_ptr<Job>& job, const bootstrap::Roster& roster,
                const std::vector<Arrival>& arrivals, Deadline deadline) {
  TUTTI_ASSIGN(transport::Mesh* const mesh, transport::Mesh::of_process());
  const Rank here = membership.hosts[static_cast<std::size_t>(membership.rank)];
  std::vector<Bytes> cards;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    if (membership.hosts[rank] == here) cards.push_back(arrivals[rank].introduced.card);
  }
  TUTTI_ASSIGN(const auto processes, mesh->connect(cards, deadline));
  auto process = processes.begin();
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    if (membership.hosts[rank] == here) {
      TUTTI_TRY(seat(membership, static_cast<Rank>(rank), *process++, arrivals[rank].introduced.introduction));
    } else {
      membership.memories.push_back(nullptr);
      membership.peers.push_back(member_abroad(job, roster.ranks[rank], static_cast<Rank>(rank)));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Side>> start_over_network(const CommunicatorOptions& options, const Identifier& identifier,
                                                 const NetworkRates& network, const Recall* recall) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(transport::Mesh* const mesh, transport::Mesh::of_process());
  const Deadline deadline = Deadline::after(os::now(), options.start_timeout);
  Membership membership{.rank = options.rank, .late_warning = knobs.late_warning()};
  TUTTI_ASSIGN(Introduction mine, introduce(options, membership));
  tell_settings(mine, knobs, network);
  TUTTI_ASSIGN(const auto meeting, bootstrap::read_identifier(identifier));
  if (meeting.is_fixed && options.rank == 0) TUTTI_TRY(bootstrap::open_meeting_point(identifier, deadline));
  TUTTI_ASSIGN(const UcxStance stance, find_stance(knobs.transport(), meeting.is_encrypted));
  TUTTI_ASSIGN(const auto job, Job::join({.identifier = identifier,
                                          .rank = options.rank,
                                          .size = options.size,
                                          .deadline = deadline,
                                          .knobs = knobs,
                                          .recall = recall,
                                          .card = [&](const bootstrap::Place& place) -> Result<Bytes> {
                                            return pack_card(place.offer, stance, mine, mesh->card());
                                          }}));
  const auto [roster, rank] = job->standing();
  membership.rank = rank;
  std::vector<Arrival> arrivals;
  std::vector<bootstrap::Offer> offers;
  std::vector<UcxStance> stances;
  std::vector<ActorId> actors;
  for (const bootstrap::Participant& participant : roster.ranks) {
    TUTTI_ASSIGN(Arrival arrival, parse_card(participant.card, static_cast<Rank>(arrivals.size())));
    job->set_offer(participant.contact.id, arrival.offer, arrival.stance);
    stances.push_back(arrival.stance);
    actors.push_back(participant.contact.id);
    offers.push_back(arrival.offer);
    arrivals.push_back(std::move(arrival));
  }
  membership.hosts = hosts_of(offers);
  TUTTI_TRY(check_stances(stances, membership.hosts));
  const bool is_one_host = membership.hosts == std::vector<Rank>(offers.size(), 0);
  TUTTI_TRY(compare_settings(arrivals));
  membership.compression = mine.compression;
  if (!is_one_host)
    log::write(LogLevel::info, rank, LogArea::network, [&] { return carriers_text(stances, membership.hosts); });
  TUTTI_TRY(seat_all(membership, job, roster, arrivals, deadline));
  // Whether ranks may pull is known on each host alone, and all have to plan alike.
  const bool can_pull = is_one_host && can_pull_under(options.memory_limit) && can_all_pull(membership.peers);
  const Introduction& first = arrivals[0].introduced.introduction;
  job->set_connections(std::max<int>(1, first.rails_max), std::max<int>(1, first.sockets_per_peer));
  membership.machine = machine_of(first.rates, options.size, can_pull);
  if (is_one_host) membership.hosts.clear();
  CommunicatorOptions own = options;
  own.rank = rank;
  membership.network = first.network;
  auto side = std::make_unique<Side>(std::move(membership), own, [&](Side& made, Links::Shape shape) {
    shape.communicator = actors[0].value;
    return std::make_unique<Abroad>(job, actors, made, shape);
  });
  if (side->is_on_several_hosts() && first.wants_measure != 0 && !first.network.is_known()) {
    const Status measured = measure_together(*side, job, actors, deadline);
    if (!measured) return measured.while_doing("measuring the network");
  }
  return side;
}

}  // namespace tutti::comm
