#include "comm/watch/late.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "comm/watch/stack.h"
#include "os/halted_thread.h"
#include "os/small_file.h"

namespace tutti::comm::watch {

namespace {

constexpr std::chrono::nanoseconds kHaltFor = std::chrono::milliseconds(150);
constexpr std::size_t kFramesShown = 12;  // in a sentence
constexpr std::size_t kFrameBytesShown = 80;

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
  const auto thread = pid == getpid() ? os::copy_main_thread(kHaltFor) : os::copy_thread(pid, kHaltFor);
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

std::string sentence_of(const Activity& activity) {
  std::string text = text_of(activity);
  for (std::size_t i = 0; i < activity.stack.size(); ++i) {
    if (i == kFramesShown) {
      text += " < ...";
      break;
    }
    // "name (file+0x12)": where there is a name, that says more.
    const std::string& frame = activity.stack[i];
    const std::size_t place = frame.rfind(" (");
    text += fmt::format("{}{}", i == 0 ? ", at " : " < ",
                        std::string_view(frame).substr(0, std::min(place, kFrameBytesShown)));
  }
  if (!activity.stack_note.empty()) text += fmt::format("; no stack: {}", activity.stack_note);
  if (text.size() > kSentenceBytesMax) text.resize(kSentenceBytesMax);
  return text;
}

}  // namespace tutti::comm::watch
