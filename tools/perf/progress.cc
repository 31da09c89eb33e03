#include "tools/perf/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace tutti::perf {

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0) {}

void Progress::show(const std::string& what) {
  if (!is_terminal_) return;
  fmt::print(stderr, "\r\033[Kmeasuring {}", what);
  std::fflush(stderr);
  is_shown_ = true;
}

void Progress::hide() {
  if (!is_shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  is_shown_ = false;
}

}  // namespace tutti::perf
