#include "os/log_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>

#include "base/log.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"
#include "os/machine.h"

namespace tutti::os {

namespace {

constexpr std::size_t kTimeBytesMax = 256;  // the rest of a line is for the text

// Lines are written by any thread at any moment, so a descriptor that was once used is never closed: another file takes
// its place under the same number.
std::atomic<int> target{STDERR_FILENO};
std::mutex installing;
int file_number = -1;  // guarded by installing, as the next
std::string file_path;
// One of those below, which are kept: lines are written at any moment.
std::atomic<const std::string*> time_format{nullptr};
std::set<std::string, std::less<>>& time_formats() {  // guarded by installing
  static auto* formats = new std::set<std::string, std::less<>>;
  return *formats;
}

std::string with_time(const std::string& format, std::string_view line) {
  std::string text = log_time_text(format, std::chrono::system_clock::now());
  text += line;
  if (text.size() <= log::kLineBytesMax) return text;
  text.resize(log::kLineBytesMax - 1);
  return text + '\n';
}

void write_all(std::string_view line) {
  while (::write(target.load(std::memory_order_acquire), line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

void write_line(std::string_view line) {
  const int saved = errno;  // a line of the log must not change what a caller is about to report
  const std::string* const format = time_format.load(std::memory_order_acquire);
  if (format == nullptr) {
    write_all(line);
  } else {
    write_all(with_time(*format, line));
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

std::string log_time_text(std::string_view format, std::chrono::system_clock::time_point when) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
  const std::string digits = fmt::format("{:09}", since % 1'000'000'000);
  std::string plain;  // what strftime knows
  for (std::size_t index = 0; index < format.size(); ++index) {
    const bool is_fraction = format[index] == '%' && index + 2 < format.size() && format[index + 1] >= '1' &&
                             format[index + 1] <= '9' && format[index + 2] == 'f';
    if (is_fraction) {
      plain += digits.substr(0, static_cast<std::size_t>(format[index + 1] - '0'));
      index += 2;
    } else {
      plain += format[index] == '_' ? ' ' : format[index];
      if (format[index] == '%' && index + 1 < format.size()) plain += format[++index];  // %% is no start
    }
  }
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, kTimeBytesMax> text{};
  return {text.data(), std::strftime(text.data(), text.size(), plain.c_str(), &parts)};
}

Status install_log(const Knobs& knobs) {
  const auto areas = parse_log_areas(knobs.log_areas());
  if (!areas) return areas.status().while_doing(knobs.variable_of(KnobId::log_areas));
  const std::lock_guard lock(installing);
  if (knobs.log_file().empty()) {
    target.store(STDERR_FILENO, std::memory_order_release);
  } else {
    TUTTI_ASSIGN(const std::string path, log_file_path(knobs.log_file(), this_machine().host, getpid()));
    if (path != file_path) TUTTI_TRY(open_file(path));
    target.store(file_number, std::memory_order_release);
  }
  const std::string_view format = knobs.log_time();
  time_format.store(format.empty() ? nullptr : &*time_formats().emplace(format).first, std::memory_order_release);
  log::set_areas(*areas);
  log::install(write_line, knobs.log_level());
  return {};
}

}  // namespace tutti::os
