#include "os/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::os {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint64_t kWakeupId = 0;  // no watch has it

static_assert(kReadable == EPOLLIN && kWritable == EPOLLOUT);

Status failure(std::string_view what, int error) {
  return {Code::out_of_memory,
          fmt::format("cannot {}: {}; look at the limit of open files ('ulimit -n')", what, error_text(error))};
}

// Rounded up, so that nothing that is due at the deadline is looked for too early and again and again.
int milliseconds_until(Deadline deadline) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  constexpr std::uint64_t kSliceMs = 60'000;
  const Time time = now();
  if (deadline.has_passed(time)) return 0;
  return static_cast<int>(std::min((deadline.at.ns - time.ns - 1) / kNsPerMs + 1, kSliceMs));
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return failure("create an epoll instance", errno);
  FileDescriptor wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup.is_open()) return failure("create an event descriptor", errno);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeupId;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wakeup.get(), &event) != 0)
    return failure("watch an event descriptor", errno);
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wakeup)));
}

Result<EventLoop::Watch> EventLoop::watch(int fd, std::uint32_t events, Ready ready) {
  const Watch watch{next_id_++};
  epoll_event event{};
  event.events = events;
  event.data.u64 = watch.id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return failure("watch a descriptor", errno);
  watched_.emplace(watch.id, Watched{fd, std::make_shared<Ready>(std::move(ready))});
  return watch;
}

void EventLoop::change(Watch watch, std::uint32_t events) {
  const auto found = watched_.find(watch.id);
  if (found == watched_.end()) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = watch.id;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, found->second.fd, &event);
}

void EventLoop::unwatch(Watch& watch) {
  const auto found = watched_.find(std::exchange(watch.id, 0));
  if (found == watched_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
  watched_.erase(found);
}

EventLoop::Timer EventLoop::call_at(Time time, std::function<void()> function) {
  const Timer timer{time, next_id_++};
  timers_.emplace(timer, std::move(function));
  return timer;
}

void EventLoop::cancel(Timer& timer) {
  timers_.erase(timer);
  timer.id = 0;
}

void EventLoop::call_later(std::function<void()> function) { later_.push_back(std::move(function)); }

void EventLoop::post(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(function));
    if (posted_.size() > 1) return;  // whoever posted the first has woken the loop
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wakeup_.get(), &one, sizeof(one));
}

void EventLoop::call_posted() {
  std::vector<std::function<void()>> functions;
  {
    const std::lock_guard lock(mutex_);
    functions.swap(posted_);
  }
  for (auto& function : functions) {
    function();
    function = nullptr;  // what it holds goes before the next one runs
  }
}

void EventLoop::call_timers() {
  const Time time = now();
  while (!timers_.empty() && timers_.begin()->first.at <= time) {
    const auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
}

void EventLoop::wait(Deadline deadline) {
  if (!later_.empty()) deadline = {};
  if (!timers_.empty()) deadline.at = std::min(deadline.at, timers_.begin()->first.at);
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, milliseconds_until(deadline));
  for (int index = 0; index < count; ++index) {
    const std::uint64_t id = events[static_cast<std::size_t>(index)].data.u64;  // copied: the kernel packs its events
    if (id == kWakeupId) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t count_of_bytes = ::read(wakeup_.get(), &ignored, sizeof(ignored));
      continue;
    }
    const auto found = watched_.find(id);
    if (found == watched_.end()) continue;
    const std::shared_ptr<Ready> ready = found->second.ready;
    (*ready)();
  }
}

bool EventLoop::is_in_loop() const { return runner_.load() == std::this_thread::get_id(); }

bool EventLoop::run_until(const std::function<bool()>& is_done, Deadline deadline) {
  runner_ = std::this_thread::get_id();
  while (!is_done()) {
    if (deadline.has_passed(now())) return false;
    wait(deadline);
    call_posted();
    call_timers();
    std::vector<std::function<void()>> later;
    later.swap(later_);
    for (auto& function : later) function();
  }
  return true;
}

}  // namespace tutti::os
