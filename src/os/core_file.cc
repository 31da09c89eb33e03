#include "os/core_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "os/small_file.h"

namespace tutti::os {
namespace {

constexpr std::size_t kNameMax = 15;  // the kernel keeps so many letters of the name of a program

std::string_view name_of_program(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  return (slash == std::string_view::npos ? program : program.substr(slash + 1)).substr(0, kNameMax);
}

// What stands for % and this letter.
std::string value_of(char letter, const Crash& crash) {
  switch (letter) {
    case '%': return "%";
    case 'p':
    case 'P':
    case 'i':
    case 'I': return std::to_string(crash.pid);
    case 'e':
    case 'f': return std::string(name_of_program(crash.program));
    case 's': return std::to_string(crash.signal);
    case 'h': return crash.host;
    case 'E': {
      std::string path = crash.program;
      for (char& c : path) c = c == '/' ? '!' : c;
      return path;
    }
    default: return "*";
  }
}

}  // namespace

std::string core_file_text(std::string_view pattern, bool has_pid, const Crash& crash) {
  pattern = text::trim(pattern);
  if (pattern.starts_with('|')) {
    const auto words = text::words(pattern.substr(1));
    return words.empty() ? std::string() : fmt::format("given to {}", words.front());
  }
  std::string path;
  bool names_pid = false;
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] != '%') {
      path += pattern[index];
    } else if (++index < pattern.size()) {
      names_pid = names_pid || pattern[index] == 'p' || pattern[index] == 'P';
      path += value_of(pattern[index], crash);
    }
  }
  if (path.empty()) return {};
  if (has_pid && !names_pid) path += fmt::format(".{}", crash.pid);
  return path.front() == '/' || crash.folder.empty() ? path : fmt::format("{}/{}", crash.folder, path);
}

std::string core_file_text(const Crash& crash) {
  return core_file_text(read_small_file("/proc/sys/kernel/core_pattern").value_or("core"),
                        read_small_file("/proc/sys/kernel/core_uses_pid").value_or("0") == "1", crash);
}

}  // namespace tutti::os
