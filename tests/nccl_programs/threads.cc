#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>

#include "tests/nccl_programs/part.h"
#include "tests/nccl_programs/run.h"

namespace tutti::programs {
namespace {

constexpr unsigned kSecondsMax = 60;

char watched[200];

extern "C" void say_which_hangs(int) {
  const ssize_t written = ::write(STDERR_FILENO, watched, sizeof(watched));
  ::_exit(written < 0 ? 3 : 2);
}

// A program that hangs cannot be ended from within: the process is, and says which it was.
class Watch {
 public:
  explicit Watch(const Program& program) {
    const std::string text = fmt::format("\nthe program of TUTTI_SEED={} does not end\n", program.seed);
    std::fill(std::begin(watched), std::end(watched), ' ');
    std::copy(text.begin(), text.end(), watched);
    std::signal(SIGALRM, say_which_hangs);
    ::alarm(kSecondsMax);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { ::alarm(0); }
};

}  // namespace

Program Chosen::program() const { return without(draw_program(seed, validity), dropped); }

std::string run_in_threads(const Program& program) {
  const Watch watch(program);
  const Expected expected = expected_of(program);
  Identifiers identifiers;
  for (const std::size_t step : steps_with_identifiers(program)) {
    if (ncclGetUniqueId(&identifiers[step]) != ncclSuccess) return ncclGetLastError(nullptr);
  }
  std::map<int, std::vector<int>> by_thread;
  for (std::size_t index = 0; index < program.players.size(); ++index)
    by_thread[program.players[index].thread].push_back(static_cast<int>(index));
  std::vector<std::string> problems(by_thread.size());
  std::vector<std::thread> threads;
  std::size_t at = 0;
  for (const auto& [thread, players] : by_thread) {
    std::string& problem = problems[at++];
    threads.emplace_back([&, &mine = players] { problem = play(program, expected, mine, identifiers); });
  }
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (const std::string& problem : problems) all += problem.empty() ? "" : problem + "\n";
  return all;
}

}  // namespace tutti::programs
