#include "os/log_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/log.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"
#include "os/machine.h"

namespace tutti::os {

namespace {

// Lines are written by any thread at any moment, so a descriptor that was once used is never closed: another file takes
// its place under the same number.
std::atomic<int> target{STDERR_FILENO};
std::mutex installing;
int file_number = -1;  // guarded by installing, as the next
std::string file_path;

void write_line(std::string_view line) {
  const int saved = errno;  // a line of the log must not change what a caller is about to report
  while (::write(target.load(std::memory_order_acquire), line.data(), line.size()) < 0 && errno == EINTR) {
  }
  errno = saved;
}

Status open_file(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644));
  if (!file.is_open()) {
    return invalid_argument(
        fmt::format("the log cannot be written to '{}': {}; TUTTI_LOG_FILE names a file in a folder "
                    "that this process may write to",
                    path, error_text(errno)));
  }
  if (file_number < 0) {
    file_number = file.release();
  } else if (dup3(file.get(), file_number, O_CLOEXEC) < 0) {
    return Status(Code::internal, fmt::format("cannot change the file of the log: {}", error_text(errno)));
  }
  file_path = path;
  return {};
}

}  // namespace

Result<std::string> log_file_path(std::string_view pattern, std::string_view host, int process_id) {
  std::string path;
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] != '%') {
      path += pattern[index];
      continue;
    }
    const char letter = ++index < pattern.size() ? pattern[index] : '\0';
    if (letter == 'h') {
      path += host;
    } else if (letter == 'p') {
      path += fmt::format("{}", process_id);
    } else if (letter == '%') {
      path += '%';
    } else {
      return invalid_argument(
          fmt::format("the file of the log '{}' has a % that means nothing; %h is the host, %p the "
                      "process id and %% a percent sign",
                      pattern));
    }
  }
  return path;
}

Status install_log(const Knobs& knobs) {
  const std::lock_guard lock(installing);
  if (knobs.log_file().empty()) {
    target.store(STDERR_FILENO, std::memory_order_release);
  } else {
    TUTTI_ASSIGN(const std::string path, log_file_path(knobs.log_file(), this_machine().host, getpid()));
    if (path != file_path) TUTTI_TRY(open_file(path));
    target.store(file_number, std::memory_order_release);
  }
  log::install(write_line, knobs.log_level());
  return {};
}

}  // namespace tutti::os
