#include "tests/network/lab/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "os/clock.h"
#include "os/error_text.h"
#include "tests/network/lab/keeper.h"

namespace tutti::lab {

namespace {

using os::FileDescriptor;

constexpr int kCannotStart = 127;

// Files without a name: nothing is left of them, and nobody has to read while the program writes.
Result<FileDescriptor> create_file(const std::string& text) {
  FileDescriptor file(::memfd_create("tutti-lab", MFD_CLOEXEC));
  if (!file.is_open()) return Status(Code::internal, "memfd_create: " + os::error_text(errno));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return Status(Code::internal, "writing to memory: " + os::error_text(errno));
  }
  return file;
}

struct Files {
  int input;
  int output;
};

[[noreturn]] void become(const Program& program, pid_t keeper, pid_t maker, Files files) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != maker) ::_exit(1);
  ::dup2(files.input, STDIN_FILENO);
  ::dup2(files.output, STDOUT_FILENO);
  ::dup2(files.output, STDERR_FILENO);
  if (const Status status = keeper == kThisMachine ? Status() : enter_host(keeper); !status) {
    ::dprintf(STDERR_FILENO, "%s\n", std::string(status.text()).c_str());
    ::_exit(kCannotStart);
  }
  if (!program.folder.empty() && ::chdir(program.folder.c_str()) != 0) {
    ::dprintf(STDERR_FILENO, "%s: %s\n", program.folder.c_str(), os::error_text(errno).c_str());
    ::_exit(kCannotStart);
  }
  const char* path = std::getenv("PATH");  // users that are not root may lack the folders of ip and tc
  ::setenv("PATH", (std::string(path == nullptr ? "/usr/bin:/bin" : path) + ":/usr/sbin:/sbin").c_str(), 1);
  for (const auto& [name, value] : program.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : program.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::dprintf(STDERR_FILENO, "%s: %s\n", words[0], os::error_text(errno).c_str());
  ::_exit(kCannotStart);
}

}  // namespace

Result<Process> Process::start(pid_t keeper, const Program& program) {
  TUTTI_ASSIGN(const FileDescriptor input, create_file(program.input));
  TUTTI_ASSIGN(FileDescriptor output, create_file(""));
  const pid_t maker = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Status(Code::internal, "fork: " + os::error_text(errno));
  if (pid == 0) become(program, keeper, maker, {input.get(), output.get()});
  ::setpgid(pid, pid);  // also here, so that a signal right after this reaches the group
  return Process(pid, std::move(output));
}

Process::~Process() {
  if (!output_.is_open()) return;
  ::kill(-pid_, SIGKILL);
  if (!exit_code_) wait(std::chrono::hours(1));
}

std::string Process::output() const {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::pread(output_.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

void Process::send(int signal) const {
  if (!exit_code_) ::kill(-pid_, signal);
}

std::optional<int> Process::wait(std::chrono::nanoseconds limit) {
  if (exit_code_) return exit_code_;
  if (!has_ended(pid_, limit)) return std::nullopt;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

Result<std::string> run_program(pid_t keeper, const Program& program, std::chrono::nanoseconds limit) {
  TUTTI_ASSIGN(Process process, Process::start(keeper, program));
  const std::optional<int> code = process.wait(limit);
  const std::string output = process.output();
  const auto said = [&] { return fmt::format("'{}' said: {}", fmt::join(program.words, " "), text::trim(output)); };
  if (!code) return Status(Code::timed_out, "its time was over; " + said());
  if (*code != 0) return Status(Code::unsupported, fmt::format("exit code {}; {}", *code, said()));
  return output;
}

bool has_ended(pid_t pid, std::chrono::nanoseconds limit) {
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!handle.is_open()) return true;
  const Deadline deadline = Deadline::after(os::now(), limit);
  for (;;) {
    const Time now = os::now();
    const std::uint64_t left_ms = deadline.has_passed(now) ? 0 : (deadline.at.ns - now.ns) / 1'000'000 + 1;
    pollfd end{.fd = handle.get(), .events = POLLIN, .revents = 0};
    if (::poll(&end, 1, static_cast<int>(std::min<std::uint64_t>(left_ms, 1'000'000))) > 0) return true;
    if (deadline.has_passed(os::now())) return false;
  }
}

}  // namespace tutti::lab
