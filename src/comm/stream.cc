#include "comm/stream.h"

#include "os/clock.h"
#include "os/futex.h"

namespace tutti {

void Work::State::finish(Status result) {
  status = std::move(result);
  is_done.store(1, std::memory_order_release);
  os::futex_wake_all(is_done);
}

bool Work::is_done() const { return state_ == nullptr || state_->is_done.load(std::memory_order_acquire) != 0; }

Status Work::wait(std::optional<std::chrono::nanoseconds> timeout) const {
  if (state_ == nullptr) return {Code::invalid_usage, "this Work stands for no call; submit() gives one that does"};
  const Deadline deadline = timeout ? Deadline::after(os::now(), *timeout) : Deadline::never();
  while (!is_done()) {
    if (deadline.has_passed(os::now())) return {Code::timed_out, "the call is still running"};
    os::futex_wait(state_->is_done, 0, deadline);
  }
  return state_->status;
}

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::create() {
  auto state = std::make_unique<State>();
  TUTTI_TRY(state->start());
  return Stream(std::move(state));
}

Status Stream::synchronize(std::optional<std::chrono::nanoseconds> timeout) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t wanted = state_->added;
  const auto is_reached = [&] { return state_->finished >= wanted; };
  if (!timeout) {
    state_->has_news.wait(lock, is_reached);
    return {};
  }
  if (state_->has_news.wait_for(lock, *timeout, is_reached)) return {};
  return {Code::timed_out, "calls on the stream are still running"};
}

Status Stream::State::start() {
  TUTTI_ASSIGN(thread, os::Thread::start("tutti-stream", [this] { run(); }));
  return {};
}

void Stream::State::add(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex);
    calls.push_back(std::move(call));
    ++added;
  }
  has_news.notify_all();
}

void Stream::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    has_news.wait(lock, [this] { return is_closing || !calls.empty(); });
    if (calls.empty()) return;
    auto call = std::move(calls.front());
    calls.pop_front();
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
    ++finished;
    has_news.notify_all();
  }
}

// What was submitted still runs.
Stream::State::~State() {
  {
    const std::lock_guard lock(mutex);
    is_closing = true;
  }
  has_news.notify_all();
  thread.join();
}

}  // namespace tutti
