#include "tools/tutti/check/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/text.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::tool::check {

namespace {

constexpr int kLookMs = 20;  // how often the child is looked at while it says nothing

struct Pipe {
  os::FileDescriptor reader;
  os::FileDescriptor writer;
};

Result<Pipe> create_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status(Code::out_of_memory, fmt::format("cannot make a pipe: {}", os::error_text(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

// In a process group of its own, so that its children end with it, and with signals as a shell has them.
Result<pid_t> spawn(const std::vector<std::string>& words, const Pipe& out, const Pipe& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writer.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Status(Code::unsupported, fmt::format("cannot start '{}': {}", words[0], os::error_text(error)));
  }
  return child;
}

// Takes what is there; false: nothing will come any more.
bool drain(os::FileDescriptor& from, std::string& to) {
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    const std::size_t room = kProgramOutputBytesMax - std::min(kProgramOutputBytesMax, to.size());
    to.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

void wait_a_little(Pipe& out, Pipe& err) {
  std::array<pollfd, 2> polled{{{.fd = out.reader.get(), .events = POLLIN, .revents = 0},
                                {.fd = err.reader.get(), .events = POLLIN, .revents = 0}}};
  ::poll(polled.data(), polled.size(), kLookMs);  // closed descriptors are negative and left out
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& words, Deadline deadline) {
  TUTTI_ASSIGN(Pipe out, create_pipe());
  TUTTI_ASSIGN(Pipe err, create_pipe());
  TUTTI_ASSIGN(const pid_t child, spawn(words, out, err));
  out.writer.close();
  err.writer.close();
  ProgramEnd end;
  int status = 0;
  bool has_ended = false;
  while (!has_ended) {
    if (deadline.has_passed(os::now())) {
      end.is_late = true;
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      has_ended = true;
    } else {
      wait_a_little(out, err);
      has_ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (out.reader.is_open() && !drain(out.reader, end.out)) out.reader.close();
    if (err.reader.is_open() && !drain(err.reader, end.err)) err.reader.close();
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

std::string find_program(const std::string& name) {
  const std::string path = os::environment_variable("PATH").value_or("/usr/bin:/bin");
  for (const std::string_view folder : text::split(path, ':')) {
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string first_line(const std::string& text) {
  for (const std::string_view line : text::split(text, '\n')) {
    if (!text::trim(line).empty()) return std::string(text::trim(line));
  }
  return "";
}

std::string last_line(const std::string& text) {
  std::string last;
  for (const std::string_view line : text::split(text, '\n')) {
    if (!text::trim(line).empty()) last = text::trim(line);
  }
  return last;
}

}  // namespace tutti::tool::check
