#include "comm/watch/portrait.h"

#include <unistd.h>

#include <chrono>

#include "comm/watch/late.h"
#include "os/clock.h"

namespace tutti::comm::watch {

namespace {

constexpr std::chrono::nanoseconds kFreshFor = std::chrono::seconds(3);

}  // namespace

std::string Portrait::look() {
  const std::lock_guard lock(mutex_);
  const bool is_fresh = !text_.empty() && !Deadline::after(made_, kFreshFor).has_passed(os::now());
  if (is_fresh) return text_;
  if (std::exchange(is_looking_, true)) return "";
  text_.clear();
  thread_.join();  // of the last look, which has ended
  auto thread = os::Thread::start("tutti-portrait", [this] {
    std::string text = sentence_of(activity_of(getpid(), StackWish::with_stack));
    const std::lock_guard own_lock(mutex_);
    text_ = std::move(text);
    made_ = os::now();
    is_looking_ = false;
  });
  if (!thread) {
    text_ = std::string(thread.status().text());
    made_ = os::now();
    is_looking_ = false;
    return text_;
  }
  thread_ = *std::move(thread);
  return "";
}

}  // namespace tutti::comm::watch
