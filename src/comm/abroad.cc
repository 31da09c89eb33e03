#include "comm/abroad.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "comm/blame.h"
#include "comm/description.h"
#include "comm/watch/late.h"
#include "os/clock.h"
#include "transport/tcp/tcp_wire.h"

namespace tutti::comm {

namespace {

enum class NoticeKind : std::uint8_t { ended = 1, left = 2 };

// What a rank says when it is asked what it is doing.
struct Activity {
  std::uint32_t entered = 0;  // the last call
  std::uint32_t done = 0;
  CallKey last;
};

Bytes pack(const Activity& activity) {
  Bytes bytes;
  append_number(bytes, activity.entered);
  append_number(bytes, activity.done);
  append_number(bytes, activity.last.count);
  append_number(bytes, activity.last.what);
  append_number(bytes, activity.last.detail);
  return bytes;
}

std::optional<Activity> parse_activity(const Bytes& bytes) {
  ByteReader reader(bytes);
  const auto entered = reader.number<std::uint32_t>();
  const auto done = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint64_t>();
  const auto what = reader.number<std::uint64_t>();
  const auto detail = reader.number<std::uint64_t>();
  if (!detail) return std::nullopt;
  return Activity{*entered, *done, {.count = *count, .what = *what, .detail = *detail}};
}

std::string activity_text(std::uint32_t call, const Activity& activity) {
  if (activity.entered == 0) return call == 0 ? "has made no collective call yet" : "has made no call yet";
  const std::string last = describe(activity.last);
  const bool is_over = activity.entered == activity.done;
  if (call == 0) {
    return fmt::format("{} call {}, {}", is_over ? "is in no collective call; its last was" : "is in", activity.entered,
                       last);
  }
  if (transport::has_reached(activity.entered, call)) return "is in this call too and has not gone on";
  if (is_over) return fmt::format("has not made this call; its last was call {}, {}", activity.entered, last);
  return fmt::format("is still in call {}, {}", activity.entered, last);
}

Standing standing_of(std::uint32_t call, const Result<Bytes>& answer) {
  if (!answer) return {.text = "does not answer"};
  const auto activity = parse_activity(*answer);
  if (!activity) return {.text = "lives, and has left the communicator or not made it yet"};
  return {.is_in_call = call != 0 && transport::has_reached(activity->entered, call),
          .text = activity_text(call, *activity)};
}

// Longer than a warning takes to gather its facts, shorter than it takes until the next one.
// How long an answer is good enough: questions take the time of both processes.
constexpr std::chrono::milliseconds kActivityFor{50};
constexpr std::chrono::nanoseconds kPortraitFor = std::chrono::seconds(5);

}  // namespace

Abroad::Abroad(std::shared_ptr<Job> job, std::vector<ActorId> actors, Side& side, const Links::Shape& shape)
    : job_(std::move(job)),
      actors_(std::move(actors)),
      is_whole_(job_->standing().roster.ranks.size() == actors_.size()),
      side_(side),
      shape_(shape),
      links_(shape_, dialer()) {
  job_->enrol(shape_.communicator, *this);
}

Abroad::~Abroad() {
  job_->resign(shape_.communicator);
  if (!side_.has_ended()) links_.settle();
  links_.close();
}

Links::Dialer Abroad::dialer() {
  return {.rails =
              [this](Rank rank) {
                // UCX needs one, to meet over; it finds its own networks.
                if (job_->carrier_to(actor(rank)) == Carrier::ucx) return std::uint32_t{1};
                const auto rails = job_->rails_to(actor(rank));
                return rails ? static_cast<std::uint32_t>(rails->rails.size()) : 1;
              },
          .wire = [this](Rank rank, const auto& ports, std::uint32_t rails) { return create_wire(rank, ports, rails); },
          .dial =
              [this](Rank rank, std::uint32_t rail, std::span<const std::byte> hello, Deadline deadline) {
                return job_->dial(actor(rank), rail, hello, deadline, [this] { return !side_.has_ended(); });
              },
          .name = [this](Rank rank, std::uint32_t rail) { return name_of_rail(rank, rail); },
          .warn = [rank = shape_.rank](const std::string& text) { log::write(LogLevel::warning, rank, text); },
          .is_gone = [this](Rank rank) { return is_gone(rank); },
          .silence = job_->silence(),
          .carriers = [this] { return carriers(); },
          .is_encrypted = job_->is_encrypted()};
}

// Under the mutex of the links, so that there is one worker of UCX for all of them.
Result<std::unique_ptr<transport::ConduitWire>> Abroad::create_wire(
    Rank rank, const std::array<transport::Remote*, transport::kPorts>& ports, std::uint32_t rails) {
  const Carrier carrier = job_->carrier_to(actor(rank));
  log::write(LogLevel::info, shape_.rank, LogArea::network,
             [&] { return fmt::format("{} carries data to rank {}", comm::name_of(carrier), rank); });
  std::unique_ptr<transport::ConduitWire> wire;
  if (carrier == Carrier::tcp) {
    const auto warn = [self = shape_.rank](const std::string& text) { log::write(LogLevel::warning, self, text); };
    wire = std::make_unique<transport::TcpWire>(ports, rails, warn);
    return wire;
  }
  if (!create_ucx_wire_) {
    TUTTI_ASSIGN(create_ucx_wire_, transport::open_ucx());
  }
  wire = create_ucx_wire_(ports);
  return wire;
}

std::string Abroad::name_of_rail(Rank rank, std::uint32_t rail) const {
  const auto rails = job_->rails_to(actor(rank));
  if (!rails || rail >= rails->rails.size()) return fmt::format("connection {} to rank {}", rail, rank);
  const bootstrap::Rail& used = rails->rails[rail];
  return fmt::format("{} to rank {} ({} to {})", used.local_interface, rank, os::text_of(used.local),
                     os::text_of(used.remote));
}

std::string Abroad::carriers() const {
  std::vector<UcxStance> stances;
  std::vector<Rank> hosts;
  for (Rank rank = 0; rank < shape_.size; ++rank) {
    stances.push_back(job_->stance_of(actor(rank)));
    hosts.push_back(side_.host_of(rank));
  }
  return carriers_text(stances, hosts);
}

Rank Abroad::rank_of(ActorId actor) const {
  const auto found = std::find(actors_.begin(), actors_.end(), actor);
  return found == actors_.end() ? kNoRank : static_cast<Rank>(found - actors_.begin());
}

void Abroad::spread_end(Code code, std::string_view why) noexcept {
  Bytes notice;
  append_number(notice, static_cast<std::uint8_t>(NoticeKind::ended));
  append_number(notice, static_cast<std::uint8_t>(code));
  append(notice, bytes_of(why.substr(0, transport::kReasonBytes)));
  job_->spread(shape_.communicator, std::move(notice));
}

void Abroad::spread_leaving() noexcept {
  Bytes notice;
  append_number(notice, static_cast<std::uint8_t>(NoticeKind::left));
  job_->spread(shape_.communicator, std::move(notice));
}

void Abroad::hear(ActorId from, std::span<const std::byte> notice) {
  ByteReader reader(notice);
  const auto kind = reader.number<std::uint8_t>();
  const Rank rank = rank_of(from);
  if (!kind || rank == kNoRank) return;
  if (static_cast<NoticeKind>(*kind) == NoticeKind::left) {
    // Ranks of this host say so themselves, by their last touch of this rank's memory, which may be freed then.
    if (side_.peers()[static_cast<std::size_t>(rank)].is_remote) side_.note_left(rank);
    return;
  }
  const auto code = reader.number<std::uint8_t>();
  if (static_cast<NoticeKind>(*kind) != NoticeKind::ended || !code) return;
  side_.end_here(static_cast<Code>(*code), text_of(reader.rest()));
}

Bytes Abroad::answer() {
  const transport::Block& block = side_.own_block();
  Activity activity{.entered = transport::Tag{block.head().tag.load(std::memory_order_acquire)}.call(),
                    .done = block.progress().calls_done.load(std::memory_order_acquire),
                    .last = {}};
  if (activity.entered > 0) activity.last = key_of(block.record(activity.entered));
  return pack(activity);
}

void Abroad::accept(std::span<const std::byte> hello, rpc::Conduit conduit) {
  const auto parsed = LinkHello::parse(hello);
  if (!parsed) {
    log::write(LogLevel::warning, shape_.rank, parsed.status().text());
    return;
  }
  links_.accept(*parsed, std::move(conduit));
}

std::unique_ptr<Outside> Abroad::part(std::span<const Rank> ranks, Side& side, const Links::Shape& shape) const {
  std::vector<ActorId> actors;
  for (const Rank rank : ranks) actors.push_back(actor(rank));
  return std::make_unique<Abroad>(job_, std::move(actors), side, shape);
}

Result<Survivors> Abroad::agree_on_survivors(Deadline deadline) {
  TUTTI_ASSIGN(const bootstrap::Joined joined,
               is_whole_ ? job_->shrink(deadline) : job_->shrink_circle(shape_.communicator, actors_, deadline));
  Survivors survivors{.ranks = {}, .epoch = joined.roster.epoch};
  for (const bootstrap::Participant& participant : joined.roster.ranks) {
    survivors.ranks.push_back(rank_of(participant.contact.id));
  }
  return survivors;
}

bool Abroad::is_gone(Rank rank) const { return !job_->why_gone(actor(rank)).empty(); }

Standing Abroad::look_at(Rank rank, std::uint32_t call) {
  if (const std::string why = job_->why_gone(actor(rank)); !why.empty()) {
    return {.is_gone = true, .is_silent = job_->is_silent(actor(rank)), .text = why};
  }
  const std::lock_guard lock(inquiries_->mutex);
  auto& inquiry = inquiries_->activities[rank];
  const bool is_fresh = inquiry.answer && !Deadline::after(inquiry.came, kActivityFor).has_passed(os::now());
  if (!is_fresh && !std::exchange(inquiry.is_under_way, true)) {
    job_->ask(actor(rank), shape_.communicator, [inquiries = inquiries_, rank](Result<Bytes> answer) {
      const std::lock_guard answer_lock(inquiries->mutex);
      inquiries->activities[rank] = {.is_under_way = false, .came = os::now(), .answer = std::move(answer)};
    });
  }
  return inquiry.answer ? standing_of(call, *inquiry.answer) : Standing{};
}

std::string Abroad::portrait_of(Rank rank) {
  const std::lock_guard lock(inquiries_->mutex);
  auto& inquiry = inquiries_->portraits[rank];
  const bool is_known = inquiry.answer && !Deadline::after(inquiry.came, kPortraitFor).has_passed(os::now());
  if (is_known && !*inquiry.answer) return fmt::format("no answer: {}", inquiry.answer->status().text());
  if (is_known && !(*inquiry.answer)->empty()) {
    return std::string(text_of(**inquiry.answer).substr(0, watch::kSentenceBytesMax));
  }
  if (!std::exchange(inquiry.is_under_way, true)) {
    job_->ask_portrait(actor(rank), [inquiries = inquiries_, rank](Result<Bytes> answer) {
      const std::lock_guard answer_lock(inquiries->mutex);
      inquiries->portraits[rank] = {.is_under_way = false, .came = os::now(), .answer = std::move(answer)};
    });
  }
  return "";
}

}  // namespace tutti::comm
