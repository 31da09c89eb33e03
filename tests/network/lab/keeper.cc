#include "tests/network/lab/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>

#include "base/text.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"
#include "os/small_file.h"

namespace tutti::lab {

namespace {

using os::FileDescriptor;

constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC;
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

Status failed(std::string_view what) { return {Code::unsupported, fmt::format("{}: {}", what, os::error_text(errno))}; }

// Puts a file with this text in the place of another. Its own name is gone at once: the mount keeps it.
Status cover(const char* path, const std::string& text) {
  const std::string source = "/dev/shm/cover";
  const FileDescriptor file(::open(source.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!file.is_open()) return failed("making a file in /dev/shm");
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return failed("writing a file in /dev/shm");
  }
  if (::mount(source.c_str(), path, nullptr, MS_BIND, nullptr) != 0) return failed(fmt::format("covering {}", path));
  ::unlink(source.c_str());
  return {};
}

// /sys shows the network in which it was mounted. Control groups are mounts below it, and stay visible.
Status mount_sys() {
  const FileDescriptor groups(::open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (::mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) return failed("mounting /sys");
  if (!groups.is_open()) return {};
  const std::string source = fmt::format("/proc/self/fd/{}", groups.get());
  if (::mount(source.c_str(), "/sys/fs/cgroup", nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return failed("mounting /sys/fs/cgroup");
  }
  return {};
}

Status become_host(const Identity& identity) {
  if (::unshare(kNamespaces) != 0) return failed("leaving the machine's namespaces");
  if (::sethostname(identity.name.data(), identity.name.size()) != 0) return failed("setting the host name");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("separating the mounts");
  if (::mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) != 0) return failed("mounting /dev/shm");
  TUTTI_TRY(mount_sys());
  const auto id = os::read_small_file("/proc/sys/kernel/random/uuid");
  if (!id) return failed("reading a random uuid");
  TUTTI_TRY(cover(kBootId, *id + "\n"));
  return identity.hosts.empty() ? Status() : cover("/etc/hosts", identity.hosts);
}

std::string network_of(pid_t pid) {
  std::error_code none;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/net", pid), none).string();
}

// The child says one sentence when it could not become a host, and nothing when it could.
[[noreturn]] void keep(const Identity& identity, pid_t maker, int answer) {
  sigset_t end;
  ::sigemptyset(&end);
  ::sigaddset(&end, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &end, nullptr);
  ::setpgid(0, 0);  // what a terminal sends to the group of the maker must not end the network while that cleans up
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != maker) ::_exit(1);
  const Status status = become_host(identity);
  if (!status) {
    const std::string_view text = status.text();
    if (::write(answer, text.data(), text.size()) < 0) ::_exit(2);
    ::_exit(1);
  }
  ::close_range(3, UINT_MAX, 0);  // whoever waits for the end of a pipe shall not wait for this process
  for (int signal = 0; ::sigwait(&end, &signal) != 0;) {
  }
  kill_all_on(::getpid());
  ::_exit(0);
}

std::string read_to_end(int file) {
  std::string text;
  std::array<char, 1024> part{};
  for (;;) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<Keeper> Keeper::create(const Identity& identity) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("making a pipe");
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t maker = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed("making the process that keeps a host");
  if (pid == 0) keep(identity, maker, write_end.get());
  Keeper keeper(pid);
  write_end.close();
  const std::string answer = read_to_end(read_end.get());
  if (!answer.empty()) return Status(Code::unsupported, answer);
  return keeper;
}

Keeper::~Keeper() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<pid_t> processes_on(pid_t keeper) {
  const std::string network = network_of(keeper);
  std::vector<pid_t> found;
  std::error_code none;
  for (auto entry = std::filesystem::directory_iterator("/proc", none); entry != std::filesystem::directory_iterator();
       entry.increment(none)) {
    const auto pid = text::integer_of<pid_t>(entry->path().filename().string());
    if (pid && *pid != keeper && !network.empty() && network_of(*pid) == network) found.push_back(*pid);
  }
  return found;
}

// Daemons have left the groups and the parents by which others would find them. What is being started meanwhile is
// found the next time.
void kill_all_on(pid_t keeper) {
  constexpr int kTriesMax = 100;
  for (int i = 0; i < kTriesMax; ++i) {
    const std::vector<pid_t> left = processes_on(keeper);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::usleep(1000);
  }
}

Status enter_host(pid_t keeper) {
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, keeper, 0)));
  if (!handle.is_open()) return failed(fmt::format("no process {} keeps a host", keeper));
  std::array<char, PATH_MAX> folder{};
  const bool has_folder = ::getcwd(folder.data(), folder.size()) != nullptr;
  if (::setns(handle.get(), kNamespaces) != 0) return failed(fmt::format("entering the host of process {}", keeper));
  // Other mounts have another root, to which the kernel moves us.
  if (has_folder && ::chdir(folder.data()) != 0) return failed(fmt::format("returning to {}", folder.data()));
  return {};
}

}  // namespace tutti::lab
