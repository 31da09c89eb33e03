#include "comm/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "bootstrap/identifier.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/membership/joiner.h"
#include "os/clock.h"
#include "os/machine.h"
#include "tutti/version.h"

namespace tutti::comm {

using bootstrap::Joined;
using bootstrap::Joiner;
using bootstrap::Part;
using bootstrap::Switchboard;

namespace {

// Connections that came before their communicator was made here.
constexpr std::size_t kEarlyMax = 4096;
// What a process that is asked takes to answer, if it runs at all.
constexpr std::chrono::nanoseconds kAnswerWithin = std::chrono::seconds(3);

rpc::CourierOptions courier_options(const bootstrap::MeetingAddress& meeting, const bootstrap::Place& place,
                                    const Knobs& knobs) {
  rpc::CourierOptions options{.secret = meeting.secret,
                              .encryption = meeting.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off,
                              .listen = place.listen};
  const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(knobs.silence());
  options.control.silence_max = silence;
  options.data.silence_max = silence;
  options.data.congestion = std::string(knobs.congestion().value_or("cubic"));
  return options;
}

}  // namespace

Result<std::shared_ptr<Job>> Job::join(const Settings& settings) {
  TUTTI_ASSIGN(const bootstrap::Place place, bootstrap::find_place(settings.knobs));
  log::write(LogLevel::info, settings.rank, [&] { return place.sentence; });
  TUTTI_ASSIGN(Bytes card, settings.card(place));
  auto job = std::shared_ptr<Job>(new Job(settings.rank, settings.knobs));
  TUTTI_TRY(job->meet(settings, place, std::move(card)));
  bootstrap::close_finished_meeting_points();
  return job;
}

Status Job::meet(const Settings& settings, const bootstrap::Place& place, Bytes card) {
  TUTTI_ASSIGN(const auto meeting, bootstrap::read_identifier(settings.identifier));
  TUTTI_ASSIGN(courier_, rpc::Courier::start(courier_options(meeting, place, settings.knobs)));
  courier_->on_data(
      [this](ActorId, rpc::Bytes hello, rpc::Conduit conduit) { accept(std::move(hello), std::move(conduit)); });
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
        roster_ = result->roster;
        rank_ = result->rank;
        Switchboard& switchboard = switchboard_->actor();
        bootstrap::MemberOwner& owner = *this;
        auto member = std::make_unique<bootstrap::Member>(switchboard.world_of(Part::member), owner, roster_, rank_,
                                                          bootstrap::Member::Settings{.silence = knobs_.silence()});
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
  has_joined.wait(lock, [&] { return joined.has_value(); });
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

Result<bootstrap::Rails> Job::rails_to(Rank rank) const {
  return bootstrap::rails_between(offers_[static_cast<std::size_t>(rank_)], offers_[static_cast<std::size_t>(rank)],
                                  knobs_.rails_max());
}

Result<rpc::Conduit> Job::dial(Rank rank, std::uint32_t rail, std::span<const std::byte> hello, Deadline deadline) {
  TUTTI_ASSIGN(const auto rails, rails_to(rank));
  const bootstrap::Rail& used = rails.rails[rail];
  Contact contact = roster_.ranks[static_cast<std::size_t>(rank)].contact;
  // Of its addresses the one on this network: the port is part of it.
  const std::string wanted = bootstrap::endpoint_text(used.remote, 0);
  const std::string_view host = std::string_view(wanted).substr(0, wanted.rfind(':'));
  std::erase_if(contact.addresses, [&](const std::string& address) {
    return std::string_view(address).substr(0, address.rfind(':')) != host;
  });
  if (contact.addresses.empty()) {
    return Status(Code::network, fmt::format("rank {} does not listen on {}", rank, host));
  }
  return courier_->connect_data(
      contact, {.announcement = {hello.begin(), hello.end()}, .from = os::text_of(used.local)}, deadline);
}

std::string Job::why_gone(Rank rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = gone_.find(rank);
  if (found == gone_.end()) return "";
  switch (found->second.kind) {
    case bootstrap::GoneKind::dead: return "has died";
    case bootstrap::GoneKind::left: return "has ended";
    case bootstrap::GoneKind::silent: break;
  }
  return fmt::format("is silent, as rank {} noticed; its process is stopped or its host is cut off", found->second.by);
}

void Job::spread(std::uint64_t communicator, Bytes notice) {
  Bytes bytes;
  append_number(bytes, communicator);
  append(bytes, notice);
  courier_->run([&] {
    if (member_ == nullptr) return;
    if (const Status status = member_->flood(bytes); !status) log::write(LogLevel::warning, rank_, status.text());
  });
}

void Job::ask(Rank rank, std::uint64_t communicator, Bytes question, std::function<void(Result<Bytes>)> answer) {
  Bytes bytes;
  append_number(bytes, communicator);
  append(bytes, question);
  courier_->post([this, rank, bytes = std::move(bytes), answer = std::move(answer)] {
    if (member_ == nullptr) return;
    member_->ask(rank, bytes, Deadline::after(os::now(), kAnswerWithin), answer);
  });
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
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(*communicator);
  if (found != listeners_.end()) {
    found->second->accept(hello, std::move(conduit));
  } else if (early_.size() < kEarlyMax) {
    early_.push_back({std::move(hello), std::move(conduit)});
  }
}

void Job::on_gone(const bootstrap::Departure& departure) {
  std::vector<JobListener*> listeners;
  {
    const std::lock_guard lock(mutex_);
    gone_[departure.rank] = departure;
    for (const auto& [communicator, listener] : listeners_) listeners.push_back(listener);
  }
  for (JobListener* listener : listeners) listener->lose(departure.rank);
}

void Job::on_notice(Rank from, std::span<const std::byte> notice) {
  ByteReader reader(notice);
  const auto communicator = reader.number<std::uint64_t>();
  if (!communicator) return;
  JobListener* listener = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(*communicator);
    if (found != listeners_.end()) listener = found->second;
  }
  if (listener != nullptr) listener->hear(from, reader.rest());
}

Bytes Job::on_question(Rank from, std::span<const std::byte> question) {
  ByteReader reader(question);
  const auto communicator = reader.number<std::uint64_t>();
  JobListener* listener = nullptr;
  if (communicator) {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(*communicator);
    if (found != listeners_.end()) listener = found->second;
  }
  return listener != nullptr ? listener->answer(from, reader.rest()) : Bytes();
}

}  // namespace tutti::comm
