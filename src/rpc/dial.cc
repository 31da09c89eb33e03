#include "rpc/dial.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/clock.h"

namespace tutti::rpc {
namespace {

using std::chrono::milliseconds;

// An address that does not answer costs so much before the next one is tried beside it.
constexpr milliseconds kStagger(100);
// A connection that is closed during the greeting met a process that is just ending, or a door that strangers crowd:
// it is worth another try, a little later each time.
constexpr milliseconds kRetryPause(10);
constexpr int kTriesMax = 6;
constexpr std::size_t kAddressesMax = 32;

Time later(milliseconds pause) { return Deadline::after(os::now(), pause).at; }

}  // namespace

Dial::Dial(os::EventLoop& loop, const Credentials& credentials, Call call, Done done)
    : loop_(loop), credentials_(credentials), call_(std::move(call)), done_(std::move(done)) {
  for (const std::string& address : call_.to.addresses)
    if (attempts_.size() < kAddressesMax) attempts_.push_back({.address = address});
  deadline_ = loop_.call_at(call_.deadline.at, [this] { give_up(); });
  next_start_ = loop_.call_at(Time{}, [this] { start_next(); });
}

Dial::~Dial() {
  loop_.cancel(next_start_);
  loop_.cancel(deadline_);
  for (Attempt& attempt : attempts_) stop(attempt);
}

void Dial::stop(Attempt& attempt) {
  loop_.cancel(attempt.retry);
  loop_.unwatch(attempt.watch);
  attempt.greeting.reset();
  attempt.socket.reset();
}

void Dial::finish(Result<Greeted> result) {
  const Done done = std::move(done_);
  done(std::move(result));
}

void Dial::start_next() {
  loop_.cancel(next_start_);
  if (started_count_ == attempts_.size()) {
    if (std::ranges::all_of(attempts_, &Attempt::is_over)) finish(failure());
    return;
  }
  Attempt& attempt = attempts_[started_count_++];
  if (started_count_ < attempts_.size()) next_start_ = loop_.call_at(later(kStagger), [this] { start_next(); });
  start(attempt);
}

Status Dial::start_connect(Attempt& attempt) {
  TUTTI_ASSIGN(const os::TcpAddress address, os::TcpAddress::parse(attempt.address));
  TUTTI_ASSIGN(os::TcpSocket socket, os::TcpSocket::start_connect(address, call_.from, call_.options));
  TUTTI_ASSIGN(attempt.watch, loop_.watch(socket.descriptor(), os::kWritable, [this, &attempt] { advance(attempt); }));
  attempt.socket.emplace(std::move(socket));
  return {};
}

void Dial::start(Attempt& attempt) {
  ++attempt.tries;
  if (const Status status = start_connect(attempt); !status) end(attempt, status);
}

Result<bool> Dial::try_advance(Attempt& attempt) {
  if (!attempt.greeting) {
    TUTTI_ASSIGN(const bool is_connected, attempt.socket->finish_connect());
    if (!is_connected) return false;
    TUTTI_ASSIGN(auto greeting,
                 Greeting::of_connector(*std::move(attempt.socket), credentials_, call_.purpose, call_.announcement));
    attempt.socket.reset();
    attempt.greeting.emplace(std::move(greeting));
  }
  return attempt.greeting->advance();
}

void Dial::advance(Attempt& attempt) {
  const auto is_done = try_advance(attempt);
  if (!is_done) return end(attempt, is_done.status());
  if (*is_done) return succeed(attempt);
  const bool wants_write = !attempt.greeting || attempt.greeting->wants_write();
  loop_.change(attempt.watch, wants_write ? os::kWritable | os::kReadable : os::kReadable);
}

void Dial::succeed(Attempt& attempt) {
  Greeted greeted = std::move(*attempt.greeting).take();
  if (greeted.peer.id != call_.to.id)
    return end(attempt,
               Status(Code::peer_lost, fmt::format("another process of this job now listens on {}", attempt.address)));
  loop_.unwatch(attempt.watch);
  finish(std::move(greeted));
}

void Dial::end(Attempt& attempt, const Status& why) {
  const bool was_closed_in_greeting = attempt.greeting && attempt.greeting->fault() == Fault::closed;
  stop(attempt);
  attempt.why = why;
  if (was_closed_in_greeting && attempt.tries < kTriesMax) {
    attempt.retry = loop_.call_at(later(kRetryPause * (1 << attempt.tries)), [this, &attempt] { start(attempt); });
    return;
  }
  // Somebody has listened: that is no proof of an end.
  if (was_closed_in_greeting) attempt.why = Status(Code::network, std::string(why.text()), Scope::connection);
  attempt.is_over = true;
  start_next();
}

Status Dial::failure() const {
  if (attempts_.empty())
    return {Code::network,
            fmt::format("there is no connection to actor {:016x} and no address of it is known", call_.to.id.value)};
  std::string texts;
  bool is_gone = true;
  for (const Attempt& attempt : attempts_) {
    if (!texts.empty()) texts += "; ";
    texts += attempt.why.text();
    is_gone &= attempt.why.code() == Code::peer_lost;
  }
  // One failure keeps its code, which says more.
  if (attempts_.size() == 1) return attempts_.front().why;
  return {is_gone ? Code::peer_lost : Code::network, texts, Scope::connection};
}

void Dial::give_up() {
  deadline_ = {};
  std::string addresses;
  for (const Attempt& attempt : attempts_) {
    if (!addresses.empty()) addresses += ", ";
    addresses += attempt.address;
    if (!attempt.why) addresses += fmt::format(" ({})", attempt.why.text());
  }
  finish(Status(Code::timed_out, fmt::format("no answer in time from {}", addresses), Scope::connection));
}

}  // namespace tutti::rpc
