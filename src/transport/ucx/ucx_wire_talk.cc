// The life of a UCX wire: how its ends meet over their connection, how each learns that the other has gone, and its
// end.
#include "transport/ucx/ucx_wire.h"

#include <fmt/format.h>

#include <chrono>

#include "os/clock.h"

namespace tutti::transport {

namespace {

// How often to ask UCX in a row, and how rarely to look at a connection on which nothing is expected: a system call.
constexpr int kTurnsMax = 16;
constexpr std::uint32_t kTurnsPerLook = 512;
// What the other side sent before it ended arrives in less than this, if it does.
constexpr std::chrono::seconds kDrainFor(1);

}  // namespace

void UcxWire::add(rpc::Conduit conduit, std::size_t, std::string) {
  const std::lock_guard lock(worker_->mutex());
  if (is_closed_ || has_connected_) return;
  has_connected_ = true;
  conduit_ = std::move(conduit);
  const UcxGreeting greeting{.address_bytes = static_cast<std::uint32_t>(worker_->address().size()), .ticket = mine_};
  append(words_out_, word_bytes(greeting));
  append(words_out_, worker_->address());
  if (const Status status = write_words(); !status) lose(status);
}

void UcxWire::fail(const Status& why) {
  const std::lock_guard lock(worker_->mutex());
  if (!has_connected_ && failure_) failure_ = why;
}

void UcxWire::drop_unanswered(std::chrono::milliseconds silence) {
  const std::lock_guard lock(worker_->mutex());
  if (!conduit_ || !conduit_->socket().is_unanswered(silence)) return;
  lose({Code::network, fmt::format("nothing was acknowledged for {} ms", silence.count()), Scope::connection});
}

bool UcxWire::has_unacknowledged() const {
  const std::lock_guard lock(worker_->mutex());
  return conduit_ && ending_ && conduit_->socket().unacknowledged_bytes() > 0;
}

bool UcxWire::is_connected() const {
  const std::lock_guard lock(worker_->mutex());
  return has_connected_;
}

Status UcxWire::progress() {
  const std::unique_lock lock(worker_->mutex(), std::try_to_lock);
  if (!lock.owns_lock() || is_closed_) return {};  // whoever has it does what is to be done
  TUTTI_TRY(failure_);
  bool has_more = true;
  for (int turn = 0; turn < kTurnsMax && has_more; ++turn) has_more = worker_->progress() > 0;
  if (endpoint_ == nullptr || has_slept_ || !ending_ || ++turns_ % kTurnsPerLook == 0) {
    has_slept_ = false;
    if (const Status talked = talk(); !talked) lose(talked);
  }
  if (is_urgent_) push();
  if (!ending_ && !has_more) conclude();
  return failure_;
}

Status UcxWire::talk() {
  if (!conduit_) return {};
  if (!words_out_.empty()) TUTTI_TRY(write_words());
  // What was read before the end of the connection counts.
  const Status read = read_words();
  TUTTI_TRY(understand_words());
  return read;
}

Status UcxWire::write_words() {
  const iovec piece{words_out_.data(), words_out_.size()};
  TUTTI_ASSIGN(const std::size_t written, conduit_->write({&piece, 1}));
  words_out_.erase(words_out_.begin(), words_out_.begin() + static_cast<std::ptrdiff_t>(written));
  return {};
}

Status UcxWire::read_words() {
  std::array<std::byte, 4096> buffer;
  const iovec piece{buffer.data(), buffer.size()};
  for (std::size_t bytes = buffer.size(); bytes == buffer.size();) {
    TUTTI_ASSIGN(bytes, conduit_->read({&piece, 1}));
    append(words_in_, std::span(buffer).first(bytes));
    if (words_in_.size() > sizeof(UcxGreeting) + UcxGreeting::kAddressBytesMax + sizeof(UcxGoodbye)) {
      return {Code::network, fmt::format("{} says more than a rank does before it uses UCX", conduit_->peer_text())};
    }
  }
  return {};
}

Status UcxWire::understand_words() {
  std::span<const std::byte> rest = words_in_;
  if (endpoint_ == nullptr) {
    if (rest.size() < sizeof(UcxGreeting)) return {};
    const auto greeting = word_of<UcxGreeting>(rest);
    if (greeting.magic != UcxGreeting::kMagic || greeting.address_bytes > UcxGreeting::kAddressBytesMax) {
      return {Code::network, fmt::format("{} does not speak of UCX; is it of another version, or has it another "
                                         "TUTTI_TRANSPORT?",
                                         conduit_->peer_text())};
    }
    rest = rest.subspan(sizeof(greeting));
    if (rest.size() < greeting.address_bytes) return {};
    theirs_ = greeting.ticket;
    TUTTI_ASSIGN(endpoint_, worker_->connect(rest.first(greeting.address_bytes), *this));
    rest = rest.subspan(greeting.address_bytes);
    words_in_ = std::vector<std::byte>(rest.begin(), rest.end());
  }
  if (words_in_.size() < sizeof(UcxGoodbye) || messages_expected_) return {};
  const auto goodbye = word_of<UcxGoodbye>(words_in_);
  if (goodbye.magic != UcxGoodbye::kMagic) {
    return {Code::network, fmt::format("{} says what nobody says at the end of a wire", conduit_->peer_text())};
  }
  messages_expected_ = goodbye.messages;
  return {};
}

// The other side has gone, and UCX has nothing more of it for now.
void UcxWire::conclude() {
  if (drained_by_.at.ns == 0) drained_by_ = Deadline::after(os::now(), kDrainFor);
  const bool is_missing_some = messages_expected_ && messages_received_ < *messages_expected_;
  if (is_missing_some && !drained_by_.has_passed(os::now())) return;
  if (failure_) failure_ = ending_;
}

void UcxWire::add_to(std::vector<pollfd>& polled) const {
  const std::lock_guard lock(worker_->mutex());
  if (is_closed_ || !failure_) return;
  has_slept_ = true;
  polled.push_back({.fd = worker_->armed_descriptor(), .events = POLLIN, .revents = 0});
  if (!conduit_ || !ending_) return;
  const auto events = static_cast<short>(words_out_.empty() ? POLLIN : POLLIN | POLLOUT);
  polled.push_back({.fd = conduit_->fd(), .events = events, .revents = 0});
}

void UcxWire::close() noexcept {
  const std::lock_guard lock(worker_->mutex());
  if (is_closed_) return;
  is_closed_ = true;
  const bool is_in_order = endpoint_ != nullptr && failure_ && ending_ && sending_ == 0 && fetching_ == 0;
  if (is_in_order && !messages_expected_) {
    worker_->flush(*endpoint_);
    append(words_out_, word_bytes(UcxGoodbye{.messages = messages_sent_}));
    // Who does not hear it finds the connection closed, which says nearly as much.
    (void)write_words();
  }
  worker_->dismiss(mine_, *this, endpoint_);
  waiting_.clear();
  train_.clear();
  conduit_.reset();
}

}  // namespace tutti::transport
