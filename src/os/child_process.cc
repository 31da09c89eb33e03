#include "os/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "os/error_text.h"

namespace tutti::os {
namespace {

constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";  // where the environment has no PATH
constexpr const char* kShell = "/bin/sh";

// What a child does between fork and exec, for the message when one of them fails.
enum class Step : int { folder, cpus, descriptors, program };

struct Failure {
  Step step = Step::folder;
  int error = 0;
};

std::string_view path_of(const ChildSettings& settings) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& variable : settings.environment) {
    if (variable.starts_with(kName)) return std::string_view(variable).substr(kName.size());
  }
  return kUsualPath;
}

// Where the program may lie, in the order in which it is tried.
std::vector<std::string> places_of(const ChildSettings& settings) {
  const std::string& program = settings.words.front();
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> places;
  for (const std::string_view folder : text::split(path_of(settings), ':'))
    places.push_back(folder.empty() ? "./" + program : fmt::format("{}/{}", folder, program));
  return places;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct CpuMask {
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set{nullptr, [](cpu_set_t* mask) { CPU_FREE(mask); }};
  std::size_t bytes = 0;  // 0: none
};

CpuMask mask_of(const std::vector<int>& cpus) {
  CpuMask mask;
  if (cpus.empty()) return mask;
  const int limit = *std::ranges::max_element(cpus) + 1;
  mask.set.reset(CPU_ALLOC(limit));
  mask.bytes = CPU_ALLOC_SIZE(limit);
  CPU_ZERO_S(mask.bytes, mask.set.get());
  for (const int cpu : cpus) CPU_SET_S(cpu, mask.bytes, mask.set.get());
  return mask;
}

// Everything that the child needs, made before fork: between fork and exec no memory may be asked for, since another
// thread may hold the lock of the allocator for ever.
class Launch {
 public:
  explicit Launch(const ChildSettings& settings)
      : settings_(settings),
        places_(places_of(settings)),
        words_(pointers_to(settings.words)),
        environment_(pointers_to(settings.environment)),
        cpus_(mask_of(settings.cpus)),
        parent_(::getpid()) {
    shell_words_ = {const_cast<char*>(kShell), nullptr};
    shell_words_.insert(shell_words_.end(), words_.begin() + 1, words_.end());
  }

  // In the child. Returns only by failing.
  Failure run() {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent_) ::_exit(0);  // the parent died before it could be asked for
    reset_signals();
    if (!settings_.folder.empty() && ::chdir(settings_.folder.c_str()) != 0) return {Step::folder, errno};
    if (cpus_.bytes > 0 && ::sched_setaffinity(0, cpus_.bytes, cpus_.set.get()) != 0) return {Step::cpus, errno};
    if (!set_descriptors()) return {Step::descriptors, errno};
    return {Step::program, execute()};
  }

 private:
  static void reset_signals() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }

  bool set_descriptors() const {
    std::array<int, 3> sources = {settings_.input, settings_.output, settings_.error};
    for (int& source : sources) {  // first out of the way, so that none is overwritten before it is used
      const int from = source >= 0 ? source : ::open("/dev/null", O_RDWR | O_CLOEXEC);
      source = ::fcntl(from, F_DUPFD_CLOEXEC, 3);
      if (source < 0) return false;
    }
    for (int target = 0; target < 3; ++target) {
      if (::dup2(sources[static_cast<std::size_t>(target)], target) < 0) return false;
    }
    constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, which older headers do not have
    if (::syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) == 0) return true;
    constexpr int kDescriptorsMax = 65536;  // on kernels before 5.11; more open files than that are not found
    for (int descriptor = 3; descriptor < kDescriptorsMax; ++descriptor) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return true;
  }

  // Like a shell: what is no program goes on to the next folder, and a file without a format is a script of the shell.
  int execute() {
    int error = ENOENT;
    for (const std::string& place : places_) {
      ::execve(place.c_str(), words_.data(), environment_.data());
      if (errno == ENOEXEC) {
        shell_words_[1] = const_cast<char*>(place.c_str());
        ::execve(kShell, shell_words_.data(), environment_.data());
      }
      if (errno == EACCES) error = EACCES;
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    }
    return error;
  }

  const ChildSettings& settings_;
  std::vector<std::string> places_;
  std::vector<char*> words_;
  std::vector<char*> shell_words_;
  std::vector<char*> environment_;
  CpuMask cpus_;
  pid_t parent_;
};

std::string missing_text(const ChildSettings& settings) {
  const std::string& program = settings.words.front();
  if (program.find('/') == std::string::npos)
    return fmt::format("there is no such program in PATH '{}'; install it there or give its path", path_of(settings));
  const bool is_relative = program.front() != '/' && !settings.folder.empty();
  const std::string place = is_relative ? fmt::format("{}/{}", settings.folder, program) : program;
  if (::access(place.c_str(), F_OK) == 0)
    return "the file is there, but the interpreter that its first line names, or its loader, is not; install that";
  return is_relative ? fmt::format("there is no such file in '{}'; check the path", settings.folder)
                     : std::string("there is no such file; check the path");
}

Status failure_of(const ChildSettings& settings, const Failure& failure) {
  const std::string why = error_text(failure.error);
  const auto text = [&]() -> std::string {
    switch (failure.step) {
      case Step::folder:
        if (failure.error == ENOENT)
          return fmt::format("its folder '{}' does not exist; create it or choose another", settings.folder);
        return fmt::format("cannot go to its folder '{}': {}; choose another", settings.folder, why);
      case Step::cpus: return fmt::format("cannot bind it to its cores: {}; start it without binding", why);
      case Step::descriptors: return fmt::format("cannot open its standard streams: {}; see 'ulimit -n'", why);
      case Step::program: break;
    }
    if (failure.error == ENOENT || failure.error == ENOTDIR) return missing_text(settings);
    if (failure.error == EACCES) return "it is not an executable file, or not for this user; see 'chmod +x'";
    if (failure.error == E2BIG) return "its arguments and environment are longer than the kernel allows; shorten them";
    return fmt::format("the kernel refuses: {}", why);
  }();
  const Code code = failure.error == ENOMEM ? Code::out_of_memory : Code::invalid_argument;
  return {code, fmt::format("cannot start '{}': {}", settings.words.front(), text)};
}

Status no_process(const ChildSettings& settings, std::string_view what, int error) {
  return {Code::out_of_memory,
          fmt::format("cannot start '{}': {}: {}; look at 'ulimit -u', 'ulimit -n' and free memory",
                      settings.words.front(), what, error_text(error))};
}

// nullopt: the other end was closed by exec.
std::optional<Failure> read_failure(int pipe) {
  Failure failure;
  ssize_t got = 0;
  do {
    got = ::read(pipe, &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(failure) ? std::optional(failure) : std::nullopt;
}

Status check(const ChildSettings& settings) {
  if (settings.words.empty() || settings.words.front().empty())
    return invalid_argument("there is no program to start; give one");
  const auto has_zero = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::ranges::any_of(settings.words, has_zero) || std::ranges::any_of(settings.environment, has_zero))
    return invalid_argument(
        fmt::format("cannot start '{}': an argument or a variable has a zero byte", settings.words.front().c_str()));
  return {};
}

// All signals wait until the child has its own dispositions: a handler of the parent must not run in it.
pid_t fork_quietly(Launch& launch, int failures) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid == 0) {
    const Failure failure = launch.run();
    [[maybe_unused]] const ssize_t ignored = ::write(failures, &failure, sizeof(failure));
    ::_exit(127);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildSettings& settings) {
  TUTTI_TRY(check(settings));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_process(settings, "no pipe", errno);
  const FileDescriptor reader(ends[0]);
  FileDescriptor first_writer(ends[1]);
  FileDescriptor writer(::fcntl(first_writer.get(), F_DUPFD_CLOEXEC, 3));  // the child overwrites 0 to 2
  first_writer.close();
  if (!writer.is_open()) return no_process(settings, "no pipe", errno);
  Launch launch(settings);
  const pid_t pid = fork_quietly(launch, writer.get());
  if (pid < 0) return no_process(settings, "no new process", errno);
  writer.close();
  const auto failure = read_failure(reader.get());
  if (!failure) {
    FileDescriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (descriptor.is_open()) return ChildProcess(pid, std::move(descriptor));
    const int error = errno;
    ::kill(pid, SIGKILL);
    reap(pid);
    return no_process(settings, "no descriptor of the process", error);
  }
  reap(pid);
  return failure_of(settings, *failure);
}

std::optional<ProcessEnd> ChildProcess::try_wait() {
  if (end_) return end_;
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  // Somebody else has waited for it: how it ended is not known any more.
  if (got < 0) return end_ = ProcessEnd{.code = 255};
  if (WIFSIGNALED(status)) return end_ = ProcessEnd{.signal = WTERMSIG(status), .has_core = WCOREDUMP(status) != 0};
  return end_ = ProcessEnd{.code = WEXITSTATUS(status)};
}

void ChildProcess::send_signal(int signal) const {
  if (!end_) ::syscall(SYS_pidfd_send_signal, descriptor_.get(), signal, nullptr, 0);
}

void ChildProcess::signal_group(int signal) const {
  if (!end_) ::kill(-pid_, signal);  // later its number may be that of another group
}

std::vector<std::string> whole_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

}  // namespace tutti::os
