#include "bench/comparison/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "bench/comparison/load.h"
#include "bench/peers/measure.h"

namespace tutti::bench {

namespace {

constexpr double kGraceS = 2;  // between asking a program to end and ending it; mpirun stops its ranks in it
constexpr double kEndS = 5;    // between the last result and the end of the programs
constexpr int kPollMs = 50;
constexpr int kCannotStart = 127;

volatile std::sig_atomic_t g_is_interrupted = 0;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Result<Pipe> create_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status(Code::internal, fmt::format("pipe2: {}", std::strerror(errno)));
  return Pipe{ends[0], ends[1]};
}

// In the child, where nothing but exec and exit may follow. It leads a group of its own, so that a signal to the group
// reaches what it starts.
[[noreturn]] void become(const Command& command, const Pipe& output, const Pipe& errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output.write_end, STDOUT_FILENO);
  dup2(errors.write_end, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  dprintf(STDERR_FILENO, "%s: %s\n", words[0], std::strerror(errno));
  _exit(kCannotStart);
}

// The programs of one call of run_together; whatever still runs ends with it.
class Running {
 public:
  Running(Pipe output, Pipe errors) : output_(output), errors_(errors) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    signal_all(SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    close(output_.read_end);
    close(errors_.read_end);
  }

  Status start(const std::vector<Command>& commands) {
    for (const Command& command : commands) {
      const pid_t child = fork();
      if (child < 0) return {Code::internal, fmt::format("fork: {}", std::strerror(errno))};
      if (child == 0) become(command, output_, errors_);
      children_.push_back(child);
    }
    close(output_.write_end);
    close(errors_.write_end);
    return {};
  }

  bool is_empty() const { return children_.empty(); }
  void signal_all(int signal) const {
    for (const pid_t child : children_) kill(-child, signal);
  }
  // Takes what has been written and notices who has ended; waits a little for either.
  void step(Outcome& outcome) {
    std::array<pollfd, 2> ends = {pollfd{output_.read_end, POLLIN, 0}, pollfd{errors_.read_end, POLLIN, 0}};
    poll(ends.data(), ends.size(), kPollMs);
    const bool has_output = take(ends[0], outcome.output);
    const bool has_errors = take(ends[1], outcome.errors);
    if (has_output || has_errors) return;
    std::erase_if(children_, [&](pid_t child) { return has_ended(child, outcome); });
  }
  // What the last of them wrote before it ended.
  void drain(Outcome& outcome) const {
    drain(output_.read_end, outcome.output);
    drain(errors_.read_end, outcome.errors);
  }

 private:
  static bool take(const pollfd& end, std::string& text) {
    if ((end.revents & POLLIN) == 0) return false;
    std::array<char, 4096> part{};
    const ssize_t count = read(end.fd, part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  static void drain(int read_end, std::string& text) {
    for (pollfd end{read_end, POLLIN, 0}; poll(&end, 1, 0) > 0 && take(end, text);) {
    }
  }
  static bool has_ended(pid_t child, Outcome& outcome) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child) return false;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (outcome.exit_code == 0) outcome.exit_code = code;
    return true;
  }

  Pipe output_;
  Pipe errors_;
  std::vector<pid_t> children_;
};

}  // namespace

Result<Outcome> run_together(const std::vector<Command>& commands, double limit_s) {
  TUTTI_ASSIGN(const Pipe output, create_pipe());
  TUTTI_ASSIGN(const Pipe errors, create_pipe());
  Running running(output, errors);
  const LoadMeter load;
  const double begin = now_s();
  TUTTI_TRY(running.start(commands));
  Outcome outcome;
  double end = begin + limit_s;
  bool is_asked_to_end = false;
  while (!running.is_empty()) {
    running.step(outcome);
    if (!outcome.is_complete && outcome.output.ends_with(kEndLine)) {
      outcome.is_complete = true;
      end = std::min(end, now_s() + kEndS);
    }
    if (outcome.exit_code != 0) end = std::min(end, now_s() + kGraceS);
    const bool is_over = now_s() > end || g_is_interrupted != 0;
    if (!is_over) continue;
    if (is_asked_to_end) {
      if (now_s() > end + kGraceS) running.signal_all(SIGKILL);
      continue;
    }
    is_asked_to_end = true;
    outcome.is_late = outcome.exit_code == 0;
    end = std::min(end, now_s());
    running.signal_all(SIGTERM);
  }
  running.drain(outcome);
  outcome.wall_s = now_s() - begin;
  outcome.foreign_cores = load.foreign_cores();
  if (g_is_interrupted != 0) return Status(Code::aborted, "interrupted");
  return outcome;
}

void catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_is_interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace tutti::bench
