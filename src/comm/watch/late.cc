#include "comm/watch/late.h"

#include <fmt/format.h>

#include <chrono>

#include "base/text.h"
#include "comm/watch/stack.h"
#include "os/halted_thread.h"
#include "os/small_file.h"

namespace tutti::comm::watch {

namespace {

constexpr std::chrono::nanoseconds kHaltFor = std::chrono::milliseconds(150);

std::string text_in(pid_t pid, std::string_view name) {
  return os::read_small_file(fmt::format("/proc/{}/{}", pid, name)).value_or("");
}

}  // namespace

Activity activity_of(pid_t pid, StackWish wish) {
  Activity activity{.program = text_in(pid, "comm"), .state = os::state_of(pid)};
  const std::string call = text_in(pid, "syscall");  // "running", or a number and its arguments
  if (!call.empty()) activity.system_call = std::string(text::words(call).front());
  if (const std::string channel = text_in(pid, "wchan"); channel != "0") activity.wait_channel = channel;
  if (wish == StackWish::without_stack) return activity;
  const auto thread = os::copy_thread(pid, kHaltFor);
  if (thread) {
    activity.stack = frames_of(pid, *thread);
  } else {
    activity.stack_note = std::string(thread.status().text());
  }
  return activity;
}

std::string text_of(const Activity& activity) {
  std::string text = fmt::format("{} ({}", activity.program.empty() ? "?" : activity.program, name_of(activity.state));
  if (!activity.wait_channel.empty()) text += fmt::format(" in {}", activity.wait_channel);
  const bool has_number =
      !activity.system_call.empty() && activity.system_call != "running" && activity.system_call != "-1";
  if (has_number) text += fmt::format(", system call {}", activity.system_call);
  return text + ")";
}

}  // namespace tutti::comm::watch
