#include "tools/tutti/ranks.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/deadline.h"
#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::tool {

namespace {

// How long ranks may go on after another has failed; a communicator notices within a fraction of it.
constexpr std::chrono::seconds kPatience{5};

// What ends a command, and the end of a child. Blocked while ranks run, and waited for instead of handled.
sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

class SignalsBlocked {
 public:
  explicit SignalsBlocked(const sigset_t& signals) {
    sigprocmask(SIG_BLOCK, &signals, &before_);
    std::signal(SIGCHLD, SIG_DFL);  // who starts this may ignore it; then the ends of children would be lost
  }
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

std::string end_text(Rank rank, int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("rank {} was killed by signal {} ({})", rank, WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("rank {} failed", rank);
}

class Ranks {
 public:
  ~Ranks() {
    kill_all();
    while (running() > 0) reap(0);
  }

  Status start(Rank count, const std::function<int(Rank)>& work, const sigset_t& signals) {
    const pid_t parent = getpid();
    std::fflush(nullptr);  // or every child prints it again
    for (Rank rank = 0; rank < count; ++rank) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);  // it ended before the line above
        sigprocmask(SIG_SETMASK, &signals, nullptr);
        const int result = work(rank);
        std::fflush(nullptr);
        _exit(result);
      }
      if (child < 0) {
        return {Code::out_of_memory, fmt::format("cannot start rank {} of {}: {}; look at the limit of processes "
                                                 "('ulimit -u')",
                                                 rank, count, os::error_text(errno))};
      }
      children_.push_back(child);
    }
    return {};
  }

  // Takes note of all that have ended so far; with no options it waits for one.
  void reap(int options) {
    for (int status = 0;;) {
      const pid_t child = waitpid(-1, &status, options);
      if (child < 0 && errno == EINTR) continue;
      if (child < 0) children_.assign(children_.size(), 0);  // there are none
      if (child <= 0) return;
      const auto found = std::find(children_.begin(), children_.end(), child);
      if (found == children_.end()) continue;
      *found = 0;
      note_end(static_cast<Rank>(found - children_.begin()), status);
      if (options == 0) return;
    }
  }

  void kill_all() {
    has_killed_ = true;
    for (const pid_t child : children_) {
      if (child != 0) kill(child, SIGKILL);
    }
  }
  std::size_t running() const {
    return static_cast<std::size_t>(std::count_if(children_.begin(), children_.end(), [](pid_t p) { return p != 0; }));
  }
  Status failure() const { return failure_; }

 private:
  // One that was killed explains why others failed, in whatever order their ends are learnt.
  void note_end(Rank rank, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const bool was_killed = WIFSIGNALED(status) && !has_killed_;
    if (!failure_ && (is_failure_a_kill_ || !was_killed)) return;
    is_failure_a_kill_ = was_killed;
    failure_ = Status(Code::peer_lost, end_text(rank, status));
  }

  std::vector<pid_t> children_;  // by rank; 0: has ended
  bool has_killed_ = false;
  bool is_failure_a_kill_ = false;
  Status failure_;  // of the first rank that failed, or that was killed by others
};

}  // namespace

Result<PrivateFolder> PrivateFolder::create() {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  std::string path = (error ? std::filesystem::path("/tmp") : place) / "tutti-XXXXXX";
  if (mkdtemp(path.data()) != nullptr) return PrivateFolder(std::move(path));
  return invalid_argument(
      fmt::format("cannot make a folder '{}': {}; set TMPDIR to a folder of your own", path, os::error_text(errno)));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

RanksEnd run_ranks(Rank count, const std::function<int(Rank)>& work) {
  const sigset_t signals = watched_signals();
  const SignalsBlocked blocked(signals);
  Ranks ranks;
  if (const Status status = ranks.start(count, work, blocked.before()); !status) return {status};
  std::optional<Deadline> deadline;  // once a rank has failed
  while (ranks.running() > 0) {
    const timespec pause{1, 0};
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal > 0 && signal != SIGCHLD) {
      return {Status(Code::aborted, fmt::format("ended by signal {} ({})", signal, strsignal(signal))), signal};
    }
    ranks.reap(WNOHANG);
    if (!ranks.failure() && !deadline) deadline = Deadline::after(os::now(), kPatience);
    if (deadline && deadline->has_passed(os::now())) ranks.kill_all();
  }
  return {ranks.failure()};
}

}  // namespace tutti::tool
