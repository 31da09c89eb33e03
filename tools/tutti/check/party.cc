#include "tools/tutti/check/party.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/knobs.h"
#include "bootstrap/env/launched_store.h"
#include "bootstrap/exchange.h"
#include "bootstrap/identifier.h"
#include "bootstrap/network/place.h"
#include "bootstrap/network/rails.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/poll.h"
#include "os/tcp_address.h"

namespace tutti::tool::check {

namespace {

// Who runs answers within this, since a thread of its own does it.
constexpr std::chrono::seconds kAnswerWithin{3};
constexpr std::size_t kAddressesMax = 64;
constexpr std::size_t kVisitsMax = 4096;  // more rounds than a check has
constexpr Rank kLifeSign = -1;            // the round of a connection that only asks whether anybody is there
constexpr std::byte kReady{1};

struct Announcement {
  Rank rank = 0;
  Rank round = 0;
};

Bytes encode(const Announcement& announcement) {
  Bytes bytes;
  append_number(bytes, announcement.rank);
  append_number(bytes, announcement.round);
  return bytes;
}

struct Trust {
  rpc::Secret secret;
  rpc::Encryption encryption = rpc::Encryption::off;
};

// The secret of the job where the store is at a meeting point. Other stores are of one host and for one user: there the
// first process leaves a secret that it has drawn.
Result<Trust> trust_of(const bootstrap::Launch& launch, bootstrap::Store& store, Deadline deadline) {
  constexpr std::string_view kTcp = "tcp:";
  if (launch.store.starts_with(kTcp)) {
    const std::string_view rest = std::string_view(launch.store).substr(kTcp.size());
    TUTTI_ASSIGN(const Identifier identifier,
                 rest.starts_with("tutti1-") ? Identifier::parse(rest) : Identifier::of_address(rest));
    TUTTI_ASSIGN(const bootstrap::MeetingAddress meeting, bootstrap::read_identifier(identifier));
    return Trust{meeting.secret, meeting.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off};
  }
  if (!launch.is_on_one_host() && launch.store.empty()) {
    return Status(
        Code::unsupported,
        fmt::format("{} gives no secret for a check of several hosts; use 'tutti check -H'", launch.launcher));
  }
  if (launch.rank == 0) {
    TUTTI_ASSIGN(const rpc::Secret secret, rpc::Secret::create());
    TUTTI_TRY(store.set("check/secret", secret.reveal()));
    return Trust{secret};
  }
  TUTTI_ASSIGN(const Bytes bytes, store.wait("check/secret", deadline));
  if (bytes.size() != rpc::Secret::kBytes) return Status(Code::internal, "the secret of the check has a wrong length");
  return Trust{rpc::Secret(std::span<const std::byte, rpc::Secret::kBytes>(bytes))};
}

// Of its addresses the one on the network of the rail, with the scope that it has here.
std::vector<std::string> addresses_on(const bootstrap::Rail& rail, const Contact& contact) {
  std::vector<std::string> addresses;
  for (const std::string& text : contact.addresses) {
    const auto address = os::TcpAddress::parse(text);
    if (address && address->ip().family == rail.remote.family && address->ip().bytes == rail.remote.bytes) {
      addresses.push_back(os::TcpAddress(rail.remote, address->port()).text());
    }
  }
  return addresses;
}

Status lost(std::string_view why) { return {Code::peer_lost, std::string(why)}; }

}  // namespace

Bytes encode(const PartyCard& card) {
  Bytes bytes;
  append_number(bytes, card.contact.id.value);
  append_number(bytes, static_cast<std::uint32_t>(card.contact.addresses.size()));
  for (const std::string& address : card.contact.addresses) append_counted(bytes, bytes_of(address));
  append_counted(bytes, bootstrap::encode(card.offer));
  return bytes;
}

Result<PartyCard> parse_card(std::span<const std::byte> bytes) {
  const Status nonsense = invalid_argument("a host has told nonsense of itself; is its Tutti of another version?");
  ByteReader reader(bytes);
  PartyCard card;
  std::uint32_t count = 0;
  if (!reader.read(card.contact.id.value) || !reader.read(count) || count > kAddressesMax) return nonsense;
  for (std::uint32_t index = 0; index < count; ++index) {
    const auto address = reader.counted(bootstrap::kValueBytesMax);
    if (!address) return nonsense;
    card.contact.addresses.emplace_back(text_of(*address));
  }
  const auto offer = reader.counted(bootstrap::kOfferBytesMax);
  if (!offer || !reader.rest().empty()) return nonsense;
  TUTTI_ASSIGN(card.offer, bootstrap::decode_offer(*offer));
  return card;
}

Result<std::unique_ptr<Party>> Party::join(const bootstrap::Launch& launch, Deadline deadline) {
  TUTTI_ASSIGN(auto store, bootstrap::open_launched_store(launch, deadline));
  std::unique_ptr<Party> party(new Party(launch.rank, launch.size, std::move(store)));
  TUTTI_TRY(party->open(launch, deadline));
  return party;
}

Party::~Party() {
  courier_.reset();
  (void)bootstrap::leave(*store_, size());  // the end of the store does the same, later
}

Status Party::open(const bootstrap::Launch& launch, Deadline deadline) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(const bootstrap::Place place, bootstrap::find_place(knobs));
  TUTTI_ASSIGN(const Trust trust, trust_of(launch, *store_, deadline));
  rpc::CourierOptions options{.secret = trust.secret, .encryption = trust.encryption, .listen = place.listen};
  options.data.congestion = std::string(knobs.congestion().value_or("cubic"));  // as the transport has it
  TUTTI_ASSIGN(courier_, rpc::Courier::start(options));
  courier_->on_data(
      [this](ActorId, Bytes announcement, rpc::Conduit conduit) { take(std::move(announcement), std::move(conduit)); });
  const Bytes mine = encode(PartyCard{courier_->contact(), place.offer});
  TUTTI_ASSIGN(const auto all, bootstrap::exchange(*store_, "check", launch.rank, launch.size, mine, deadline));
  for (const Bytes& bytes : all) {
    TUTTI_ASSIGN(PartyCard card, parse_card(bytes));
    cards_.push_back(std::move(card));
  }
  return {};
}

// On the courier's thread. Whoever only asks whether somebody is there has its answer by now.
void Party::take(Bytes announcement, rpc::Conduit conduit) {
  ByteReader reader(announcement);
  Announcement said;
  if (!reader.read(said.rank) || !reader.read(said.round) || said.round == kLifeSign) return;
  const std::lock_guard lock(mutex_);
  if (visits_.size() >= kVisitsMax) return;
  visits_.insert_or_assign({said.rank, said.round}, std::move(conduit));
  came_.notify_all();
}

std::string Party::way_to(Rank partner) const {
  const auto rails = bootstrap::rails_between(cards_[static_cast<std::size_t>(rank_)].offer,
                                              cards_[static_cast<std::size_t>(partner)].offer, 1);
  if (!rails) return std::string(rails.status().text());
  const bootstrap::Rail& rail = rails->rails.front();
  return fmt::format("{} to {}, {} to {}", rail.local_interface, rail.remote_interface, os::text_of(rail.local),
                     os::text_of(rail.remote));
}

Result<rpc::Conduit> Party::connect(Rank partner, const Bytes& announcement) {
  const PartyCard& there = cards_[static_cast<std::size_t>(partner)];
  TUTTI_ASSIGN(const auto rails,
               bootstrap::rails_between(cards_[static_cast<std::size_t>(rank_)].offer, there.offer, 1));
  const bootstrap::Rail& rail = rails.rails.front();
  Contact contact{there.contact.id, addresses_on(rail, there.contact)};
  rpc::DataCall call{.announcement = announcement, .from = os::text_of(rail.local)};
  if (contact.addresses.empty()) {  // processes of one host, which listen at addresses of its networks
    contact = there.contact;
    call.from.reset();
  }
  return courier_->connect_data(contact, call, Deadline::after(os::now(), kAnswerWithin));
}

Result<rpc::Conduit> Party::meet(Rank partner, Rank round, Deadline deadline) {
  TUTTI_TRY(find_loss(partner));
  auto conduit = rank_ < partner ? call(partner, round, deadline) : wait_for(partner, round, deadline);
  // What is only late is not lost: others may still meet it.
  if (!conduit && conduit.status().code() == Code::peer_lost) tell_loss(partner, conduit.status().text());
  return conduit;
}

Result<rpc::Conduit> Party::call(Rank partner, Rank round, Deadline deadline) {
  auto conduit = connect(partner, encode(Announcement{rank_, round}));
  if (!conduit) return conduit.status();
  while (!os::poll_until(conduit->fd(), POLLIN, Deadline::after(os::now(), kAnswerWithin))) {
    if (deadline.has_passed(os::now())) return Status(Code::timed_out, "the other side was busy for too long");
    TUTTI_TRY(ask_life(partner));
  }
  std::array<std::byte, 1> ready{};
  TUTTI_TRY(conduit->read_exactly(ready, deadline));
  return conduit;
}

Result<rpc::Conduit> Party::wait_for(Rank partner, Rank round, Deadline deadline) {
  const auto find = [&] { return visits_.find({partner, round}); };
  std::unique_lock lock(mutex_);
  while (!came_.wait_for(lock, kAnswerWithin, [&] { return find() != visits_.end(); })) {
    lock.unlock();
    if (deadline.has_passed(os::now())) return Status(Code::timed_out, "the other side was busy for too long");
    TUTTI_TRY(ask_life(partner));
    lock.lock();
  }
  rpc::Conduit conduit = std::move(visits_.extract(find()).mapped());
  lock.unlock();
  const std::array<std::byte, 1> ready{kReady};
  TUTTI_TRY(conduit.write_all(ready, deadline));
  return conduit;
}

Status Party::ask_life(Rank partner) {
  TUTTI_TRY(find_loss(partner));
  const Status answer = connect(partner, encode(Announcement{rank_, kLifeSign})).status();
  if (answer) return {};
  return lost(fmt::format("has stopped answering: {}", answer.text()));
}

Status Party::find_loss(Rank partner) {
  const auto found = store_->get(fmt::format("check/lost/{}", partner));
  if (found && *found) return lost(text_of(**found));
  return {};
}

void Party::tell_loss(Rank partner, std::string_view why) {
  (void)store_->set(fmt::format("check/lost/{}", partner), bytes_of(why));  // others find it out by themselves too
}

}  // namespace tutti::tool::check
