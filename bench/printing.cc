// How fast the lines of many ranks go through the printer of `tutti run` into a pipe that `cat > /dev/null` reads, or
// into files. Prints a table; a number from it goes into a document only with machine and commit. Run: bench_printing
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "base/bytes.h"
#include "launch/output/printer.h"
#include "os/clock.h"

namespace {

using namespace tutti;

constexpr std::size_t kLineBytes = 100;
constexpr std::size_t kInputBytes = std::size_t{4} << 30;
constexpr Rank kRanks = 8;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Of all threads of this process.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// A pipe to `cat`, which throws away what it reads.
class Reader {
 public:
  Reader() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) std::exit(1);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = "cat";
    std::array<char*, 2> words = {name.data(), nullptr};
    if (posix_spawnp(&child_, "cat", &actions, nullptr, words.data(), environ) != 0) std::exit(1);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    write_ = os::FileDescriptor(ends[1]);
  }
  ~Reader() {
    write_.close();
    int status = 0;
    waitpid(child_, &status, 0);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  int fd() const { return write_.get(); }

 private:
  pid_t child_ = 0;
  os::FileDescriptor write_;
};

void row(const std::string& name, const launch::OutputSettings& settings, std::size_t chunk_bytes) {
  const auto loop = os::EventLoop::create();
  Reader reader;
  auto printer = launch::Printer::create(**loop, settings, kRanks, [] {}, {reader.fd(), STDERR_FILENO});
  if (!loop || !printer) {
    fmt::print("{:<40} {}\n", name, printer.status().text());
    return;
  }
  std::string chunk;
  while (chunk.size() + kLineBytes <= chunk_bytes) chunk += std::string(kLineBytes - 1, 'x') + '\n';
  const Time begin = os::now();
  const double processor_begin = processor_seconds();
  Rank rank = 0;
  for (std::size_t given = 0; given < kInputBytes; given += chunk.size()) {
    (*printer)->print(rank, launch::Stream::out, bytes_of(chunk));
    rank = (rank + 1) % kRanks;
    if ((*printer)->is_full()) (*loop)->run_until([&] { return !(*printer)->is_full(); }, Deadline::never());
  }
  (*loop)->run_until([&] { return (*printer)->is_written(); }, Deadline::never());
  const double elapsed = 1e-9 * static_cast<double>(os::now().ns - begin.ns);
  fmt::print("{:<40} {:>7.0f} MB/s {:>7.0f} MB for a second of processor time\n", name, 1e-6 * kInputBytes / elapsed,
             1e-6 * kInputBytes / (processor_seconds() - processor_begin));
  std::fflush(stdout);
}

}  // namespace

int main() {
  using launch::Tag;
  constexpr std::size_t kSmall = 4 << 10;
  constexpr std::size_t kMiddle = 64 << 10;
  constexpr std::size_t kLarge = 1 << 20;
  fmt::print("lines of {} bytes of {} ranks, into a pipe; rates are of what ranks write\n", kLineBytes, kRanks);
  row("tagged, 4 KiB at a time", {}, kSmall);
  row("tagged, 64 KiB at a time", {}, kMiddle);
  row("tagged, 1 MiB at a time", {}, kLarge);
  row("no tags, 64 KiB at a time", {.tag = Tag::none}, kMiddle);
  row("coloured, 64 KiB at a time", {.colour = launch::Colour::always}, kMiddle);
  row("with times, 64 KiB at a time", {.has_timestamps = true}, kMiddle);
  return 0;
}
