#include "launch/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "launch/message.h"
#include "os/error_text.h"

namespace tutti::launch {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr int kReadsMax = 4;  // in a row: others have their turn too

void make_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

Status failure_of(const char* what, int error) {
  const bool is_gone = error == EPIPE || error == ECONNRESET;
  return {is_gone ? Code::peer_lost : Code::network, fmt::format("{}: {}", what, os::error_text(error))};
}

class PipeDuct final : public Duct {
 public:
  // A socket comes as input alone.
  PipeDuct(os::FileDescriptor input, os::FileDescriptor output) : input_(std::move(input)), output_(std::move(output)) {
    make_non_blocking(input_.get());
    if (output_.is_open()) make_non_blocking(output_.get());
  }

  Result<std::size_t> read(std::span<std::byte> space) override {
    const ssize_t count = ::read(input_.get(), space.data(), space.size());
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0) return Status(Code::peer_lost, "the other side has closed the connection");
    if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
    return failure_of("read", errno);
  }
  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    // Whoever writes to a pipe ignores SIGPIPE; a socket needs no such help.
    const ssize_t count = output_.is_open() ? ::write(output_.get(), bytes.data(), bytes.size())
                                            : ::send(input_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
    return failure_of("write", errno);
  }
  int read_fd() const override { return input_.get(); }
  int write_fd() const override { return output_.is_open() ? output_.get() : input_.get(); }
  void close_write() override {
    if (output_.is_open()) {
      output_.close();
    } else {
      ::shutdown(input_.get(), SHUT_WR);
    }
  }

 private:
  os::FileDescriptor input_;
  os::FileDescriptor output_;  // closed: the input is a socket, or nothing is written any more
};

}  // namespace

std::unique_ptr<Duct> create_pipe_duct(os::FileDescriptor input, os::FileDescriptor output) {
  return std::make_unique<PipeDuct>(std::move(input), std::move(output));
}
std::unique_ptr<Duct> create_socket_duct(os::FileDescriptor socket) {
  return std::make_unique<PipeDuct>(std::move(socket), os::FileDescriptor());
}

Channel::Channel(os::EventLoop& loop, std::unique_ptr<Duct> duct, Greets greets, Owner& owner)
    : loop_(loop), duct_(std::move(duct)), owner_(owner), has_greeted_(greets != Greets::expects) {
  if (greets != Greets::writes) return;
  const auto greeting = bytes_of(kGreeting);
  send(Bytes(greeting.begin(), greeting.end()));
}

Channel::~Channel() {
  loop_.unwatch(read_watch_);
  loop_.unwatch(write_watch_);
}

void Channel::start() {
  has_started_ = true;
  update_interest();
}

void Channel::send(Bytes encoded) {
  if (has_ended_ || is_finishing_ || has_finished_) return;
  queued_bytes_ += encoded.size();
  was_full_ = was_full_ || is_full();
  outgoing_.push_back(std::move(encoded));
  update_interest();
}

void Channel::set_reading(bool is_reading) {
  is_reading_ = is_reading;
  update_interest();
  if (is_reading) advance_soon();
}

void Channel::finish() {
  is_finishing_ = true;
  update_interest();
}

void Channel::update_interest() {
  if (!has_started_ || has_ended_) return;
  const std::uint32_t reading = is_reading_ ? os::kReadable : 0;
  const std::uint32_t writing = !outgoing_.empty() || is_finishing_ || duct_->wants_write() ? os::kWritable : 0;
  const bool is_one = duct_->write_fd() == duct_->read_fd();
  set_interest(read_watch_, duct_->read_fd(), is_one ? reading | writing : reading);
  if (!is_one) set_interest(write_watch_, duct_->write_fd(), writing);
}

// For bytes that the duct may hold and polling does not announce.
void Channel::advance_soon() {
  if (!has_started_ || has_ended_ || will_advance_) return;
  will_advance_ = true;
  loop_.call_later([this, life = std::weak_ptr(life_)] {
    if (life.expired()) return;
    will_advance_ = false;
    advance();
  });
}

// The end of the other side is announced whatever is watched for, again and again: who wants nothing does not watch.
void Channel::set_interest(os::EventLoop::Watch& watch, int fd, std::uint32_t events) {
  if (events == 0) return loop_.unwatch(watch);
  if (watch.is_set()) return loop_.change(watch, events);
  auto set = loop_.watch(fd, events, [this] { advance(); });
  if (set) {
    watch = *set;
  } else {
    loop_.call_later([this, life = std::weak_ptr(life_), why = set.status()] {
      if (!life.expired() && !has_ended_) fail(why);
    });
  }
}

void Channel::advance() {
  if (has_ended_) return;
  Status status = write();
  // What has come is read even where nothing can be written any more: it says why.
  if (is_reading_ || !status) {
    if (const Status reading = read(); !reading) status = reading;
  }
  if (has_ended_) return;
  if (!status) return fail(status);
  update_interest();
}

Status Channel::write() {
  if (outgoing_.empty() && duct_->wants_write()) TUTTI_TRY(duct_->flush());
  while (!outgoing_.empty()) {
    const Bytes& front = outgoing_.front();
    TUTTI_ASSIGN(const std::size_t count, duct_->write(std::span(front).subspan(front_written_)));
    if (count == 0) break;
    front_written_ += count;
    queued_bytes_ -= count;
    if (front_written_ < front.size()) continue;
    outgoing_.pop_front();
    front_written_ = 0;
  }
  if (was_full_ && queued_bytes_ < kQueueLow) {
    was_full_ = false;
    owner_.drained(*this);
  }
  if (!is_finishing_ || !outgoing_.empty() || duct_->wants_write()) return {};
  is_finishing_ = false;
  has_finished_ = true;
  loop_.unwatch(write_watch_);
  duct_->close_write();
  return {};
}

Status Channel::read() {
  std::array<std::byte, kReadBytes> space;  // not initialised: it is filled at once
  for (int turn = 0; turn < kReadsMax && (is_reading_ || turn == 0) && !has_ended_; ++turn) {
    TUTTI_ASSIGN(const std::size_t count, duct_->read(space));
    if (count == 0) return {};
    std::span<const std::byte> bytes = std::span(space).first(count);
    if (!has_greeted_) TUTTI_TRY(take_greeting(bytes));
    if (has_greeted_) TUTTI_TRY(take_messages(bytes));
    if (count < space.size()) return {};
  }
  advance_soon();
  return {};
}

Status Channel::take_greeting(std::span<const std::byte>& bytes) {
  const std::size_t before = noise_.size();
  noise_ += text_of(bytes);
  const std::size_t from = before < kGreeting.size() ? 0 : before - kGreeting.size();
  const std::size_t place = noise_.find(kGreeting, from);
  if (place != std::string::npos) {
    bytes = bytes.subspan(place + kGreeting.size() - before);
    noise_.resize(place);
    has_greeted_ = true;
    return {};
  }
  if (noise_.size() <= kNoiseMax) return {};
  return {Code::network, "what answers is no agent of Tutti: it has printed too much"};
}

Status Channel::take_messages(std::span<const std::byte> bytes) {
  constexpr std::size_t kLength = sizeof(std::uint32_t);
  if (!incoming_.empty()) {
    append(incoming_, bytes);
    bytes = incoming_;
  }
  while (bytes.size() >= kLength && !has_ended_) {
    const std::size_t size = load_number<std::uint32_t>(bytes);
    if (size > kMessageBytesMax) return {Code::network, fmt::format("a message of {} bytes is none of Tutti", size)};
    if (bytes.size() - kLength < size) break;
    owner_.take(*this, bytes.subspan(kLength, size));
    bytes = bytes.subspan(kLength + size);
  }
  Bytes rest(bytes.begin(), bytes.end());  // it may lie in incoming_
  incoming_ = std::move(rest);
  return {};
}

void Channel::fail(const Status& why) {
  has_ended_ = true;
  loop_.unwatch(read_watch_);
  loop_.unwatch(write_watch_);
  owner_.end(*this, why);
}

}  // namespace tutti::launch
