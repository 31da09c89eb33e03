#include "tests/launch/running.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "os/clock.h"

namespace tutti::programs {

namespace {

constexpr useconds_t kPollUs = 5000;

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  std::error_code none;
  for (auto entry = std::filesystem::directory_iterator("/proc", none); entry != std::filesystem::directory_iterator();
       entry.increment(none)) {
    if (const auto pid = text::integer_of<pid_t>(entry->path().filename().string())) all.push_back(*pid);
  }
  return all;
}

}  // namespace

std::string built(const std::string& name) { return std::string(TUTTI_PROGRAMS) + "/" + name; }

Words run_words(const Words& options, const Words& actions) {
  Words words = {built("tutti"), "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(built("job_rank"));
  words.insert(words.end(), actions.begin(), actions.end());
  return words;
}

std::string shell_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "'" : " '";
    for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    text += "'";
  }
  return text;
}

bool comes_true(const std::function<bool()>& condition, std::chrono::nanoseconds limit) {
  const Deadline deadline = Deadline::after(os::now(), limit);
  while (!condition()) {
    if (deadline.has_passed(os::now())) return false;
    ::usleep(kPollUs);
  }
  return true;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : text::split(text, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The environment of a process that has ended and was not asked for its end is empty.
std::vector<pid_t> processes_with(const std::string& variable) {
  std::vector<pid_t> found = all_processes();
  const std::string wanted = '\0' + variable + '\0';
  std::erase_if(found, [&](pid_t pid) {
    const std::string environment = '\0' + lab::read_file(fmt::format("/proc/{}/environ", pid));
    return environment.find(wanted) == std::string::npos;
  });
  std::ranges::sort(found);
  return found;
}

std::string command_line(pid_t pid) {
  std::string line = lab::read_file(fmt::format("/proc/{}/cmdline", pid));
  std::ranges::replace(line, '\0', ' ');
  return line;
}

std::size_t memory_peak_bytes(pid_t pid) {
  const std::string status = lab::read_file(fmt::format("/proc/{}/status", pid));
  const std::size_t at = status.find("VmHWM:");
  if (at == std::string::npos) return 0;
  return std::stoull(status.substr(at + std::string_view("VmHWM:").size())) * 1024;
}

std::string described(const std::vector<pid_t>& processes) {
  std::string text;
  for (const pid_t pid : processes) text += fmt::format("{}: {}\n", pid, command_line(pid));
  return text;
}

pid_t noted_pid(const lab::Folder& folder, const std::string& name) {
  const std::string text = lab::read_file(folder.file(name));
  return text::integer_of<pid_t>(std::string_view(text).substr(0, text.find('\n'))).value_or(0);
}

bool have_noted(const lab::Folder& folder, const std::string& what, int count) {
  return comes_true([&] {
    for (int rank = 0; rank < count; ++rank) {
      if (noted_pid(folder, fmt::format("{}.{}", what, rank)) == 0) return false;
    }
    return true;
  });
}

}  // namespace tutti::programs
