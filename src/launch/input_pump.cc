#include "launch/input_pump.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "os/clock.h"

namespace tutti::launch {

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kLook(300);  // how often a process looks whether it is in the foreground again

// What epoll refuses: it is ready whenever one asks.
bool is_always_ready(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return true;  // reading says what is wrong with it
  if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) return true;
  return S_ISCHR(facts.st_mode) && ::isatty(fd) == 0;  // /dev/null, /dev/zero
}

}  // namespace

InputPump::InputPump(os::EventLoop& loop, int fd, Target target) : loop_(loop), fd_(fd), target_(std::move(target)) {}

InputPump::~InputPump() {
  loop_.unwatch(watch_);
  loop_.cancel(timer_);
}

void InputPump::start() {
  has_started_ = true;
  is_always_ready_ = is_always_ready(fd_);
  wait();
}

void InputPump::resume() {
  if (has_started_ && !has_ended_) wait();
}

void InputPump::wait() {
  if (has_ended_ || watch_.is_set() || timer_.is_set() || target_.room() == 0) return;
  if (!is_always_ready_) {
    auto watch = loop_.watch(fd_, os::kReadable, [this] { advance(); });
    if (watch) {
      watch_ = *watch;
      return;
    }
    is_always_ready_ = true;  // some device that cannot be waited for
  }
  timer_ = loop_.call_at(os::now(), [this] {
    timer_ = {};
    advance();
  });
}

void InputPump::advance() {
  const std::size_t room = std::min(kReadBytes, target_.room());
  if (room == 0) return loop_.unwatch(watch_);
  if (is_in_background()) return retry_later();
  std::array<std::byte, kReadBytes> space;  // not initialised: it is filled at once
  const ssize_t count = ::read(fd_, space.data(), room);
  if (count > 0) {
    target_.give(std::span<const std::byte>(space).first(static_cast<std::size_t>(count)));
    return wait();
  }
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return wait();
  if (count < 0 && errno == EIO && ::isatty(fd_) == 1) return retry_later();  // it went to the background just now
  end();
}

void InputPump::retry_later() {
  loop_.unwatch(watch_);
  timer_ = loop_.call_at(Deadline::after(os::now(), kLook).at, [this] {
    timer_ = {};
    wait();
  });
}

bool InputPump::is_in_background() const {
  if (::isatty(fd_) == 0) return false;
  const pid_t foreground = ::tcgetpgrp(fd_);
  return foreground >= 0 && foreground != ::getpgrp();
}

void InputPump::end() {
  loop_.unwatch(watch_);
  has_ended_ = true;
  target_.end();
}

}  // namespace tutti::launch
