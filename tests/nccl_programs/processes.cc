#include <fcntl.h>
#include <fmt/format.h>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include "base/text.h"
#include "tests/nccl_programs/part.h"
#include "tests/nccl_programs/run.h"

namespace tutti::programs {
namespace {

constexpr unsigned kSecondsMax = 60;
constexpr std::string_view kFlag = "--player";

bool write_all(int file, const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::write(file, next, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t bytes) {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::read(file, next, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// A process that plays one player. It is killed if it has not ended before.
class Process {
 public:
  Process(const Chosen& chosen, std::size_t player) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::vector<std::string> words = {"nccl_programs_test", std::string(kFlag), std::to_string(player),
                                      std::to_string(chosen.seed),
                                      chosen.validity == Validity::valid ? "valid" : "wrong"};
    for (const std::size_t step : chosen.dropped) words.push_back(std::to_string(step));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (to_ >= 0) ::close(to_);
    ::close(from_);
  }

  int to() const { return to_; }
  int from() const { return from_; }

  // What it has to say, when it has played its part.
  std::string hear() const {
    std::string text;
    std::array<char, 4096> bytes{};
    ssize_t count = 0;
    while ((count = ::read(from_, bytes.data(), bytes.size())) > 0)
      text.append(bytes.data(), static_cast<std::size_t>(count));
    return text;
  }

  // Lets it end, and says how it did if not well.
  std::string finish() {
    ::close(std::exchange(to_, -1));
    std::string text;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFSIGNALED(status)) text += fmt::format("(ended by signal {})", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) text += fmt::format("(exit {})", WEXITSTATUS(status));
    return text;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

// The first player makes them and tells all others, by way of whoever has called them.
bool agree_on(Identifiers& identifiers, const std::vector<std::size_t>& steps, std::size_t player) {
  for (const std::size_t step : steps) {
    ncclUniqueId& id = identifiers[step];
    if (player == 0 && (ncclGetUniqueId(&id) != ncclSuccess || !write_all(STDOUT_FILENO, &id, sizeof(id))))
      return false;
    if (player != 0 && !read_all(STDIN_FILENO, &id, sizeof(id))) return false;
  }
  return true;
}

}  // namespace

std::string run_in_processes(const Chosen& chosen) {
  std::signal(SIGPIPE, SIG_IGN);
  const Program program = chosen.program();
  std::vector<std::unique_ptr<Process>> processes;
  for (std::size_t player = 0; player < program.players.size(); ++player)
    processes.push_back(std::make_unique<Process>(chosen, player));
  std::vector<ncclUniqueId> ids(steps_with_identifiers(program).size());
  std::string all;
  if (!read_all(processes[0]->from(), ids.data(), ids.size() * sizeof(ncclUniqueId)))
    all += "the first process gave no identifiers\n";
  for (std::size_t player = 1; all.empty() && player < processes.size(); ++player)
    write_all(processes[player]->to(), ids.data(), ids.size() * sizeof(ncclUniqueId));
  // Others may still need the first one, where they meet, when it has done its part.
  std::vector<std::string> texts;
  for (const auto& process : processes) texts.push_back(process->hear());
  for (std::size_t player = 0; player < processes.size(); ++player) {
    const std::string text = texts[player] + processes[player]->finish();
    if (!text.empty()) all += fmt::format("process {}: {}\n", player, text);
  }
  return all;
}

std::optional<int> run_as_player(int count, char** arguments) {
  if (count < 5 || arguments[1] != kFlag) return std::nullopt;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(kSecondsMax);  // a hang ends by itself
  const auto player = text::integer_of<std::size_t>(arguments[2]).value_or(0);
  Chosen chosen{.seed = text::integer_of<std::uint64_t>(arguments[3]).value_or(0),
                .validity = std::string_view(arguments[4]) == "valid" ? Validity::valid : Validity::has_wrong_calls,
                .dropped = {}};
  for (int index = 5; index < count; ++index)
    chosen.dropped.push_back(text::integer_of<std::size_t>(arguments[index]).value_or(0));
  const Program program = chosen.program();
  Identifiers identifiers;
  if (!agree_on(identifiers, steps_with_identifiers(program), player)) return 4;
  const std::string problem = play(program, expected_of(program), {static_cast<int>(player)}, identifiers);
  write_all(STDOUT_FILENO, problem.data(), problem.size());
  ::close(STDOUT_FILENO);
  char nothing = 0;
  read_all(STDIN_FILENO, &nothing, sizeof(nothing));  // until the others have played theirs
  return problem.empty() ? 0 : 1;
}

}  // namespace tutti::programs
