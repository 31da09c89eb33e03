#include "comm/stream.h"

#include "device/host/executor.h"
#include "os/clock.h"

namespace tutti {
namespace {

Deadline deadline_of(std::optional<std::chrono::nanoseconds> timeout) {
  return timeout ? Deadline::after(os::now(), *timeout) : Deadline::never();
}

}  // namespace

bool Work::is_done() const { return state_ == nullptr || state_->finished.load(std::memory_order_acquire) != 0; }

Status Work::wait(std::optional<std::chrono::nanoseconds> timeout) const {
  if (state_ == nullptr) return {Code::invalid_usage, "this Work stands for no call; submit() gives one that does"};
  if (!device::Executor::of_process().drive(state_->finished, 1, deadline_of(timeout)))
    return {Code::timed_out, "the call is still running"};
  return state_->status;
}

Stream::Stream(std::unique_ptr<State> state) : state_(std::move(state)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::create() { return Stream(std::make_unique<State>()); }

Status Stream::synchronize(std::optional<std::chrono::nanoseconds> timeout) {
  if (state_->stream->synchronize(deadline_of(timeout))) return {};
  return {Code::timed_out, "calls on the stream are still running"};
}

}  // namespace tutti
