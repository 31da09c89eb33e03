#include "os/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/text.h"
#include "os/clock.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::os {
namespace {

// Fields of /proc/PID/stat behind the name, from 0: see proc(5), which counts the state as the third.
enum Field : std::size_t { kParent = 1, kGroup = 2, kUserTicks = 11, kSystemTicks = 12, kStart = 19, kResident = 21 };

std::optional<ProcessFacts> read_process(pid_t pid) {
  std::array<char, 1024> text{};
  const FileDescriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = file.is_open() ? ::read(file.get(), text.data(), text.size()) : -1;
  if (got <= 0) return std::nullopt;
  return parse_process({text.data(), static_cast<std::size_t>(got)});
}

}  // namespace

std::optional<ProcessFacts> parse_process(std::string_view stat) {
  const std::size_t name = stat.find(" (");
  const std::size_t end = stat.rfind(')');
  if (name == std::string_view::npos || end == std::string_view::npos || end < name) return std::nullopt;
  const std::vector<std::string_view> fields = text::words(stat.substr(end + 1));
  if (fields.size() <= kResident) return std::nullopt;
  const auto pid = text::integer_of<pid_t>(stat.substr(0, name));
  const auto parent = text::integer_of<pid_t>(fields[kParent]);
  const auto group = text::integer_of<pid_t>(fields[kGroup]);
  const auto user = text::integer_of<std::uint64_t>(fields[kUserTicks]);
  const auto system = text::integer_of<std::uint64_t>(fields[kSystemTicks]);
  const auto start = text::integer_of<std::uint64_t>(fields[kStart]);
  const auto resident = text::integer_of<std::int64_t>(fields[kResident]);
  if (!pid || !parent || !group || !user || !system || !start || !resident) return std::nullopt;
  return ProcessFacts{.pid = *pid,
                      .parent = *parent,
                      .group = *group,
                      .state = parse_state(stat),
                      .start_ticks = *start,
                      .cpu_ticks = *user + *system,
                      .resident_pages = static_cast<std::uint64_t>(std::max<std::int64_t>(*resident, 0))};
}

ProcessTree ProcessTree::read() {
  std::vector<ProcessFacts> all;
  const std::unique_ptr<DIR, void (*)(DIR*)> folder(::opendir("/proc"), [](DIR* opened) { ::closedir(opened); });
  if (folder == nullptr) return ProcessTree({});
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = text::integer_of<pid_t>(entry->d_name);
    if (!pid) continue;
    if (const auto process = read_process(*pid)) all.push_back(*process);
  }
  return ProcessTree(std::move(all));
}

ProcessTree::ProcessTree(std::vector<ProcessFacts> all) : all_(std::move(all)) {
  std::ranges::stable_sort(all_, {}, &ProcessFacts::parent);
  for (std::size_t index = 0; index < all_.size(); ++index) places_.emplace(all_[index].pid, index);
}

std::optional<ProcessFacts> ProcessTree::find(pid_t pid) const {
  const auto found = places_.find(pid);
  return found == places_.end() ? std::nullopt : std::optional(all_[found->second]);
}

std::vector<ProcessFacts> ProcessTree::descendants_of(pid_t root, std::span<const pid_t> without) const {
  std::vector<ProcessFacts> found;
  std::unordered_set<pid_t> seen(without.begin(), without.end());
  seen.insert(root);  // facts are read one after the other and may contradict each other
  const auto add_children = [&](pid_t parent) {
    auto child = std::ranges::lower_bound(all_, parent, {}, &ProcessFacts::parent);
    for (; child != all_.end() && child->parent == parent; ++child) {
      if (seen.insert(child->pid).second) found.push_back(*child);
    }
  };
  add_children(root);
  for (std::size_t index = 0; index < found.size(); ++index) add_children(found[index].pid);
  return found;
}

TreeUse ProcessTree::use_of(pid_t root) const {
  const double ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  TreeUse use;
  const auto add = [&](const ProcessFacts& process) {
    use.cpu_s += static_cast<double>(process.cpu_ticks) / ticks_per_s;
    use.resident_bytes += process.resident_pages * page_bytes;
  };
  if (const auto itself = find(root)) add(*itself);
  for (const ProcessFacts& process : descendants_of(root)) add(process);
  return use;
}

Status adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) return {};
  return {Code::unsupported, fmt::format("the kernel does not let this process adopt orphans: {}", error_text(errno))};
}

void send_signal(const ProcessFacts& process, int signal) {
  // The descriptor stays with the process that it was opened for: what is checked afterwards holds when it is used.
  const FileDescriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!descriptor.is_open()) return;
  const auto now_there = read_process(process.pid);
  if (!now_there || now_there->start_ticks != process.start_ticks) return;
  ::syscall(SYS_pidfd_send_signal, descriptor.get(), signal, nullptr, 0);
}

void reap_orphans(const std::function<bool(pid_t)>& is_known) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (is_known(ended.si_pid)) return;  // whoever knows it waits for it, and calls again
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

bool kill_descendants(Deadline deadline) {
  constexpr timespec kRound{.tv_sec = 0, .tv_nsec = 5'000'000};  // a killed process takes a moment to go
  while (true) {
    reap_orphans([](pid_t) { return false; });
    const std::vector<ProcessFacts> left = ProcessTree::read().descendants_of(::getpid());
    if (std::ranges::none_of(left, is_alive)) return true;
    for (const ProcessFacts& process : left) {
      if (is_alive(process)) send_signal(process, SIGKILL);
    }
    if (deadline.has_passed(now())) return false;
    ::nanosleep(&kRound, nullptr);
  }
}

}  // namespace tutti::os
