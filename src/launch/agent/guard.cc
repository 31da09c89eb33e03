#include "launch/agent/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>

#include "os/clock.h"
#include "os/error_text.h"
#include "os/process_tree.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::seconds kKillTime(10);  // a process that hangs in the kernel longer than that is left to it
constexpr timespec kLook{.tv_sec = 1, .tv_nsec = 0};

// All but stderr and the pipe, whose end tells the inner process that this one is gone.
void close_descriptors(int pipe) {
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  constexpr int kPlace = 3;
  if (pipe != kPlace) ::dup2(pipe, kPlace);
  if (::syscall(SYS_close_range, kPlace + 1, ~0U, 0) == 0) return;
  constexpr int kDescriptorsMax = 1024;  // on kernels before 5.9; nothing has been opened yet
  for (int descriptor = kPlace + 1; descriptor < kDescriptorsMax; ++descriptor) ::close(descriptor);
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

[[noreturn]] void stand_guard(pid_t inner, int pipe) {
  close_descriptors(pipe);
  ::prctl(PR_SET_NAME, "tutti-guard");
  const sigset_t signals = watched_signals();
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(inner, &status, WNOHANG);
    if (ended == inner || (ended < 0 && errno == ECHILD)) break;
    const int signal = ::sigtimedwait(&signals, nullptr, &kLook);
    if (signal > 0 && signal != SIGCHLD) ::kill(inner, signal);
  }
  os::kill_descendants(Deadline::after(os::now(), kKillTime));
  ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

Result<os::FileDescriptor> fork_under_guard() {
  const auto failure = [](const char* what) {
    return Status(Code::out_of_memory,
                  fmt::format("cannot create {} for the guard of the agent: {}; look at 'ulimit -u' "
                              "and 'ulimit -n'",
                              what, os::error_text(errno)));
  };
  TUTTI_TRY(os::adopt_orphans());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure("a pipe");
  os::FileDescriptor reader(ends[0]);
  os::FileDescriptor writer(ends[1]);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, nullptr);  // whoever ignores it never hears how a child ended
  const sigset_t signals = watched_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t outer = ::getpid();
  const pid_t inner = ::fork();
  if (inner > 0) stand_guard(inner, writer.get());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (inner < 0) return failure("a process");
  writer.close();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != outer) return Status(Code::aborted, "the guard of the agent was killed before it began");
  TUTTI_TRY(os::adopt_orphans());
  return reader;
}

}  // namespace tutti::launch
