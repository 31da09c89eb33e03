#include "comm/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "bootstrap/identifier.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/membership/joiner.h"
#include "os/backoff.h"
#include "os/clock.h"
#include "os/machine.h"
#include "os/tcp_address.h"
#include "tutti/version.h"

namespace tutti::comm {

using bootstrap::Joined;
using bootstrap::Joiner;
using bootstrap::Part;
using bootstrap::Switchboard;

namespace {

// Connections that came before their communicator was made here.
constexpr std::size_t kEarlyMax = 4096;
enum class Question : std::uint8_t { activity = 1, offered = 2, portrait = 3 };

// What a process that is asked takes to answer, if it runs at all.
constexpr std::chrono::nanoseconds kAnswerWithin = std::chrono::seconds(3);
constexpr std::chrono::nanoseconds kAskAgainAfter = std::chrono::milliseconds(250);

// A notice of rank 0 that is for the whole job. No communicator has this name.
constexpr std::uint64_t kEverybody = 0;
// Between two looks at the clock.
constexpr std::chrono::nanoseconds kAwaitAtMost = std::chrono::seconds(1);

rpc::CourierOptions courier_options(const bootstrap::MeetingAddress& meeting, const bootstrap::Place& place,
                                    const Knobs& knobs) {
  rpc::CourierOptions options{.secret = meeting.secret,
                              .encryption = meeting.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off,
                              .listen = place.listen};
  const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(knobs.silence());
  // Sooner, so that there is time to connect over another network before anybody is taken for silent.
  options.control.silence_max = silence / 3;
  options.data.silence_max = silence;
  options.data.may_take_nothing = true;
  options.data.congestion = std::string(knobs.congestion().value_or("cubic"));
  return options;
}

// Several signs of life fit into the time after which a rank without any is silent.
bootstrap::Member::Settings member_settings(const Knobs& knobs) {
  bootstrap::Member::Settings settings{.silence = knobs.silence()};
  settings.heartbeat = std::min(settings.heartbeat, settings.silence / 4);
  return settings;
}

}  // namespace

Result<std::shared_ptr<Job>> Job::join(const Settings& settings) {
  TUTTI_ASSIGN(const bootstrap::Place place, bootstrap::find_place(settings.knobs));
  log::write(LogLevel::info, settings.rank, LogArea::network, [&] { return place.sentence; });
  TUTTI_ASSIGN(Bytes card, settings.card(place));
  auto job = std::shared_ptr<Job>(new Job(settings.knobs));
  const Status met = job->meet(settings, place, std::move(card));
  if (!met && met.code() != Code::aborted) bootstrap::let_meeting_points_answer();
  TUTTI_TRY(met);
  bootstrap::close_finished_meeting_points();
  return job;
}

Status Job::meet(const Settings& settings, const bootstrap::Place& place, Bytes card) {
  TUTTI_ASSIGN(const auto meeting, bootstrap::read_identifier(settings.identifier));
  const Status reach = bootstrap::validate_reach(place, meeting.contact.addresses);
  if (!reach) return reach.while_doing(fmt::format("starting rank {} of {}", settings.rank, settings.size));
  is_encrypted_ = meeting.is_encrypted;
  TUTTI_ASSIGN(courier_, rpc::Courier::start(courier_options(meeting, place, settings.knobs)));
  courier_->on_data(
      [this](ActorId, Bytes hello, rpc::Conduit conduit) { accept(std::move(hello), std::move(conduit)); });
  TUTTI_ASSIGN(switchboard_,
               bootstrap::Attachment<Switchboard>::create(*courier_, bootstrap::kMembershipService, [&](World& world) {
                 return std::make_unique<Switchboard>(world, courier_->id());
               }));
  std::condition_variable has_joined;
  std::mutex mutex;
  std::optional<Result<Joined>> joined;
  Joiner::Settings joiner{
      .meeting = meeting.contact,
      .rank = settings.rank,
      .size = settings.size,
      .version = TUTTI_VERSION,
      .self = {.contact = courier_->contact(),
               .process = {.host = os::this_machine().host, .pid = static_cast<std::int32_t>(getpid())},
               .card = std::move(card)},
      .deadline = settings.deadline,
      .progress = [](std::string_view text) { fmt::print(stderr, "tutti: {}\n", text); },
      .pace = {}};
  courier_->run([&] {
    const auto done = [&, this](Result<Joined> result) {
      // The member listens before others may speak to it.
      if (result) {
        install(*result);
        Switchboard& switchboard = switchboard_->actor();
        bootstrap::MemberOwner& owner = *this;
        auto member = std::make_unique<bootstrap::Member>(switchboard.world_of(Part::member), owner, result->roster,
                                                          result->rank, member_settings(knobs_));
        member_ = member.get();
        switchboard.set(Part::member, std::move(member));
      }
      const std::lock_guard lock(mutex);
      joined = std::move(result);
      has_joined.notify_one();
    };
    Switchboard& switchboard = switchboard_->actor();
    switchboard.set(Part::joiner, std::make_unique<Joiner>(switchboard.world_of(Part::joiner), joiner, done));
  });
  std::unique_lock lock(mutex);
  while (!has_joined.wait_for(lock, Recall::kLook, [&] { return joined.has_value(); })) {
    if (settings.recall == nullptr || !settings.recall->is_recalled()) continue;
    lock.unlock();
    // Nobody tells the result any more, unless it has come by now.
    courier_->run([&] { switchboard_->actor().set(Part::joiner, nullptr); });
    return joined ? joined->status() : settings.recall->status();
  }
  return joined->status();
}

Job::~Job() {
  if (courier_ == nullptr) return;
  courier_->run([this] {
    if (member_ != nullptr) member_->leave();
  });
  switchboard_.reset();
  courier_.reset();
}

void Job::install(const bootstrap::Joined& joined) {
  const std::lock_guard lock(mutex_);
  standing_ = joined;
  for (const bootstrap::Participant& participant : joined.roster.ranks) {
    participants_[participant.contact.id] = participant;
  }
}

bootstrap::Joined Job::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

Result<bootstrap::Joined> Job::wait_for_agreement(const Agree& agree) {
  std::condition_variable is_decided;
  std::mutex mutex;
  std::optional<Result<Joined>> decided;
  courier_->run([&] {
    agree(*member_, [&](Result<Joined> result) {
      const std::lock_guard lock(mutex);
      decided = std::move(result);
      is_decided.notify_one();
    });
  });
  std::unique_lock lock(mutex);
  is_decided.wait(lock, [&] { return decided.has_value(); });
  return *std::move(decided);
}

Result<bootstrap::Joined> Job::shrink(Deadline deadline) {
  return wait_for_agreement([&, this](bootstrap::Member& member, bootstrap::Member::ShrinkSink sink) {
    // Before anything else happens on the job's thread: what it hears next is in terms of the new ranks.
    member.shrink(deadline, [this, sink = std::move(sink)](Result<Joined> result) {
      if (result) install(*result);
      sink(std::move(result));
    });
  });
}

Result<bootstrap::Joined> Job::shrink_circle(std::uint64_t communicator, const std::vector<ActorId>& actors,
                                             Deadline deadline) {
  bootstrap::Roster roster{.epoch = 1, .ranks = {}};
  {
    const std::lock_guard lock(mutex_);
    for (const ActorId actor : actors) roster.ranks.push_back(participants_.at(actor));
  }
  return wait_for_agreement([&](bootstrap::Member& member, bootstrap::Member::ShrinkSink sink) {
    member.shrink_circle(communicator, roster, deadline, std::move(sink));
  });
}

void Job::set_offer(ActorId actor, bootstrap::Offer offer, UcxStance stance) {
  const std::lock_guard lock(mutex_);
  offers_[actor] = std::move(offer);
  stances_[actor] = stance;
}

UcxStance Job::stance_of(ActorId actor) const {
  const std::lock_guard lock(mutex_);
  const auto found = stances_.find(actor);
  return found == stances_.end() ? UcxStance::refused : found->second;
}

Carrier Job::carrier_to(ActorId actor) const { return carrier_between(stance_of(courier_->id()), stance_of(actor)); }

Result<bootstrap::Rails> Job::rails_to(ActorId actor) const {
  const std::lock_guard lock(mutex_);
  const auto here = offers_.find(courier_->id());
  const auto there = offers_.find(actor);
  if (here == offers_.end() || there == offers_.end()) return Status(Code::internal, "an actor without an offer");
  TUTTI_ASSIGN(bootstrap::Rails found, bootstrap::rails_between(here->second, there->second, rails_max_));
  std::vector<bootstrap::Rail> connections;
  for (bootstrap::Rail& rail : found.rails) {
    rail.share /= sockets_per_rail_;
    connections.insert(connections.end(), static_cast<std::size_t>(sockets_per_rail_), rail);
  }
  found.rails = std::move(connections);
  return found;
}

void Job::set_connections(int rails_max, int sockets_per_rail) {
  const std::lock_guard lock(mutex_);
  rails_max_ = rails_max;
  sockets_per_rail_ = sockets_per_rail;
}

Result<rpc::Conduit> Job::dial(ActorId actor, std::uint32_t rail, std::span<const std::byte> hello, Deadline deadline,
                               const std::function<bool()>& is_wanted) {
  TUTTI_ASSIGN(const auto rails, rails_to(actor));
  const bootstrap::Rail& used = rails.rails[rail];
  Contact contact;
  {
    const std::lock_guard lock(mutex_);
    contact = participants_[actor].contact;
  }
  // Of its addresses the one on this network: the port is part of it, the scope of a link-local one is ours.
  const auto known = std::exchange(contact.addresses, {});
  for (const std::string& text : known) {
    const auto address = os::TcpAddress::parse(text);
    if (address && address->ip().family == used.remote.family && address->ip().bytes == used.remote.bytes)
      contact.addresses.push_back(os::TcpAddress(used.remote, address->port()).text());
  }
  if (contact.addresses.empty()) {
    return Status(Code::network, fmt::format("nobody of the job listens on {} there", os::text_of(used.remote)));
  }
  return courier_->connect_data(contact,
                                {.announcement = {hello.begin(), hello.end()},
                                 .from = os::text_of(used.local),
                                 .is_wanted = [&] { return is_wanted() && why_gone(actor).empty(); }},
                                deadline);
}

std::string Job::why_gone(ActorId actor) const {
  const std::lock_guard lock(mutex_);
  const auto found = gone_.find(actor);
  return found == gone_.end() ? "" : found->second.why;
}

std::chrono::milliseconds Job::silence() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(knobs_.silence());
}

bool Job::is_silent(ActorId actor) const {
  const std::lock_guard lock(mutex_);
  const auto found = gone_.find(actor);
  return found != gone_.end() && found->second.is_silent;
}

void Job::spread(std::uint64_t communicator, Bytes notice) {
  Bytes bytes;
  append_number(bytes, communicator);
  append(bytes, notice);
  courier_->run([&] {
    if (member_ == nullptr) return;
    if (const Status status = member_->flood(bytes); !status) log::write(LogLevel::warning, kNoRank, status.text());
  });
}

void Job::announce(Bytes bytes) { spread(kEverybody, std::move(bytes)); }

Result<Bytes> Job::await_announcement(Deadline deadline) const {
  std::unique_lock lock(mutex_);
  const ActorId first = standing_.roster.ranks[0].contact.id;
  while (!announcement_) {
    if (const auto found = gone_.find(first); found != gone_.end()) {
      const auto& process = standing_.roster.ranks[0].process;
      return Status(Code::peer_lost,
                    fmt::format("rank 0 (pid {} on {}) {}", process.pid, process.host, found->second.why));
    }
    const Time now = os::now();
    if (deadline.has_passed(now)) return Status(Code::timed_out, "rank 0 lives, and has not told its result in time");
    const auto rest = std::chrono::nanoseconds(std::min<std::uint64_t>(deadline.at.ns - now.ns, kAwaitAtMost.count()));
    has_news_.wait_for(lock, rest);
  }
  return *announcement_;
}

void Job::question(ActorId actor, Bytes bytes, std::chrono::nanoseconds within,
                   std::function<void(Result<Bytes>)> answer) {
  courier_->post([this, actor, within, bytes = std::move(bytes), answer = std::move(answer)] {
    const Rank rank = member_->roster().rank_of(actor);
    if (rank == kNoRank) return answer(Status(Code::peer_lost, "takes no part any more"));
    member_->ask(rank, bytes, Deadline::after(os::now(), within), answer);
  });
}

void Job::ask(ActorId actor, std::uint64_t communicator, std::function<void(Result<Bytes>)> answer) {
  Bytes bytes;
  append_number(bytes, static_cast<std::uint8_t>(Question::activity));
  append_number(bytes, communicator);
  question(actor, std::move(bytes), kAnswerWithin, std::move(answer));
}

void Job::ask_portrait(ActorId actor, std::function<void(Result<Bytes>)> answer) {
  Bytes bytes;
  append_number(bytes, static_cast<std::uint8_t>(Question::portrait));
  append_number(bytes, std::uint64_t{0});
  question(actor, std::move(bytes), kAnswerWithin, std::move(answer));
}

void Job::offer(std::uint64_t name, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  offered_[name] = std::move(bytes);
}

Result<Bytes> Job::obtain(ActorId actor, std::uint64_t name, Deadline deadline) {
  // shared: an answer may come when nobody waits any more.
  struct Pending {
    std::mutex mutex;
    std::condition_variable has_come;
    std::optional<Result<Bytes>> answer;
  };
  Bytes bytes;
  append_number(bytes, static_cast<std::uint8_t>(Question::offered));
  append_number(bytes, name);
  os::Backoff backoff;
  for (;;) {
    const auto pending = std::make_shared<Pending>();
    question(actor, bytes, kAskAgainAfter, [pending](Result<Bytes> answer) {
      const std::lock_guard lock(pending->mutex);
      pending->answer = std::move(answer);
      pending->has_come.notify_one();
    });
    std::unique_lock lock(pending->mutex);
    pending->has_come.wait(lock, [&] { return pending->answer.has_value(); });
    const Result<Bytes>& answer = *pending->answer;
    // One that has not come as far as this rank, into the next epoch, does not hear the question yet.
    if (!answer && answer.status().code() != Code::timed_out) return answer.status();
    if (answer && !answer->empty()) return answer;
    if (deadline.has_passed(os::now())) return Status(Code::timed_out, "is not ready in time");
    lock.unlock();
    backoff.pause(deadline);
  }
}

void Job::enrol(std::uint64_t communicator, JobListener& listener) {
  std::vector<Early> early;
  {
    const std::lock_guard lock(mutex_);
    listeners_[communicator] = &listener;
    std::swap(early, early_);
  }
  for (Early& one : early) accept(std::move(one.hello), std::move(one.conduit));
}

// On the job's thread, so that whoever hears at this moment has heard when this returns.
void Job::resign(std::uint64_t communicator) {
  courier_->run([&] {
    const std::lock_guard lock(mutex_);
    listeners_.erase(communicator);
  });
}

void Job::accept(Bytes hello, rpc::Conduit conduit) {
  ByteReader reader(hello);
  const auto communicator = reader.number<std::uint64_t>();
  if (!communicator) return;
  JobListener* listener = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(*communicator);
    if (found != listeners_.end()) {
      listener = found->second;
    } else if (early_.size() < kEarlyMax) {
      early_.push_back({std::move(hello), std::move(conduit)});
    }
  }
  if (listener != nullptr) listener->accept(hello, std::move(conduit));
}

JobListener* Job::listener_of(std::uint64_t communicator) const {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(communicator);
  return found == listeners_.end() ? nullptr : found->second;
}

void Job::on_gone(const bootstrap::Departure& departure) {
  const std::lock_guard lock(mutex_);
  const auto& ranks = standing_.roster.ranks;
  auto& [why, is_silent] = gone_[ranks[static_cast<std::size_t>(departure.rank)].contact.id];
  is_silent = departure.kind == bootstrap::GoneKind::silent;
  has_news_.notify_all();
  switch (departure.kind) {
    case bootstrap::GoneKind::dead: why = "has died"; break;
    case bootstrap::GoneKind::left: why = "has ended"; break;
    case bootstrap::GoneKind::silent:
      why = fmt::format("is silent, as rank {} noticed; its process is stopped or its host is cut off", departure.by);
      break;
  }
}

void Job::on_notice(Rank from, std::span<const std::byte> notice) {
  ByteReader reader(notice);
  const auto communicator = reader.number<std::uint64_t>();
  if (communicator == kEverybody && from == 0) {
    const std::lock_guard lock(mutex_);
    if (!announcement_) announcement_.emplace(reader.rest().begin(), reader.rest().end());
    has_news_.notify_all();
    return;
  }
  JobListener* const listener = communicator ? listener_of(*communicator) : nullptr;
  if (listener == nullptr) return;
  listener->hear(member_->roster().ranks[static_cast<std::size_t>(from)].contact.id, reader.rest());
}

Bytes Job::on_question(Rank, std::span<const std::byte> question) {
  ByteReader reader(question);
  const auto kind = reader.number<std::uint8_t>();
  const auto name = reader.number<std::uint64_t>();
  if (!name) return {};
  if (static_cast<Question>(*kind) == Question::activity) {
    JobListener* const listener = listener_of(*name);
    return listener != nullptr ? listener->answer() : Bytes();
  }
  if (static_cast<Question>(*kind) == Question::portrait) {
    Bytes text;
    append(text, bytes_of(portrait_.look()));
    return text;
  }
  const std::lock_guard lock(mutex_);
  const auto found = offered_.find(*name);
  return found == offered_.end() ? Bytes() : found->second;
}

}  // namespace tutti::comm
