// job_rank: a rank of a job that does what its arguments say, one after the other, for tests of launchers. An argument
// is ACTION, ACTION=VALUE, or with the rank it is for, as in `exit@2=3`:
//   place           prints "rank 1 of 4, 1 of 2 on host0"
//   show=A,B        prints "1: A=value" for each variable, "1: A is not set" for those that are not there
//   folder          prints "1: /where/it/stands"
//   out=N, err=N    prints N lines to stdout or stderr
//   bytes=N         prints N bytes to stdout, in lines of 64
//   echo            prints "1 read LINE" for each line of its input, then "1 read all"
//   sum             adds up all ranks over a communicator and prints "1: the ranks add up to 6"
//   pid=FOLDER      writes its process number to FOLDER/rank.1
//   child=FOLDER    starts a process that leaves its session and sleeps; its number is in FOLDER/child.1
//   deaf            ignores SIGTERM and SIGINT from now on
//   await=FILE      waits until there is such a file
//   sleep=N         sleeps N seconds
//   exit=CODE, kill=SIGNAL
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "base/knobs.h"
#include "base/text.h"
#include "bootstrap/env/launch.h"
#include "bootstrap/env/launched_store.h"
#include "bootstrap/exchange.h"
#include "os/clock.h"
#include "os/environment.h"
#include "tutti/communicator.h"

namespace tutti::launch {
namespace {

constexpr int kExitUsage = 2;

struct Action {
  std::string name;
  Rank rank = kNoRank;  // kNoRank: all
  std::string value = {};
  long long number = 0;  // of the value
};

Action parse(std::string_view word) {
  Action action;
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos) action.value = word.substr(equals + 1);
  const std::string_view head = word.substr(0, equals);
  const std::size_t at = head.find('@');
  action.name = head.substr(0, at);
  if (at != std::string_view::npos) action.rank = text::integer_of<Rank>(head.substr(at + 1)).value_or(kNoRank);
  action.number = text::integer_of<long long>(action.value).value_or(0);
  return action;
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void write_number(const std::string& folder, const std::string& name, pid_t pid) {
  const std::string path = folder + "/" + name;
  std::ofstream(path + ".new") << pid << "\n";
  std::filesystem::rename(path + ".new", path);  // whoever finds it finds all of it
}

void show(Rank rank, const std::string& names) {
  for (const std::string_view name : text::split(names, ',')) {
    const char* value = std::getenv(std::string(name).c_str());
    say(value == nullptr ? fmt::format("{}: {} is not set", rank, name) : fmt::format("{}: {}={}", rank, name, value));
  }
}

void print_lines(std::FILE* file, Rank rank, long long count) {
  for (long long line = 0; line < count; ++line) fmt::print(file, "line {} of rank {}\n", line, rank);
  std::fflush(file);
}

void print_bytes(long long count) {
  constexpr std::size_t kLine = 64;
  std::string block;
  while (block.size() < (std::size_t{1} << 16)) block += std::string(kLine - 1, 'x') + "\n";
  for (long long left = count; left > 0;) {
    const auto part = static_cast<std::size_t>(std::min<long long>(left, static_cast<long long>(block.size())));
    if (std::fwrite(block.data(), 1, part, stdout) != part) std::exit(1);
    left -= static_cast<long long>(part);
  }
  std::fflush(stdout);
}

void echo(Rank rank) {
  for (std::string line; std::getline(std::cin, line);) say(fmt::format("{} read {}", rank, line));
  say(fmt::format("{} read all", rank));
}

void await_file(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// The child holds neither pipes nor the session: only its parents lead to it. It is there when this returns.
void start_child(const std::string& folder, Rank rank) {
  const std::string name = fmt::format("child.{}", rank);
  if (::fork() != 0) return await_file(folder + "/" + name);
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr) {
    ::_exit(1);
  }
  write_number(folder, name, ::getpid());
  ::sleep(1000);
  ::_exit(0);
}

Status add_up(const bootstrap::Launch& launch) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  const Deadline deadline = Deadline::after(os::now(), knobs.start_timeout());
  TUTTI_ASSIGN(const auto store, open_launched_store(launch, deadline));
  std::string address;
  if (launch.rank == 0) {
    TUTTI_ASSIGN(const Identifier identifier, Identifier::create());
    address = identifier.text();
  }
  TUTTI_ASSIGN(const auto words,
               bootstrap::exchange(*store, "address", launch.rank, launch.size, bytes_of(address), deadline));
  TUTTI_ASSIGN(auto ranks,
               Communicator::create(
                   {.rank = launch.rank, .size = launch.size, .store = "tcp:" + std::string(text_of(words.front()))}));
  std::int64_t sum = launch.rank;
  TUTTI_TRY(ranks.all_reduce(std::span(&sum, 1)));
  say(fmt::format("{}: the ranks add up to {}", launch.rank, sum));
  return bootstrap::leave(*store, launch.size);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

Status act(const Action& action, const bootstrap::Launch& launch) {
  const Rank rank = launch.rank;
  if (action.name == "place") {
    say(fmt::format("rank {} of {}, {} of {} on {}", rank, launch.size, launch.local_rank, launch.local_size,
                    host_name()));
  } else if (action.name == "show") {
    show(rank, action.value);
  } else if (action.name == "folder") {
    say(fmt::format("{}: {}", rank, std::filesystem::current_path().string()));
  } else if (action.name == "out" || action.name == "err") {
    print_lines(action.name == "out" ? stdout : stderr, rank, action.number);
  } else if (action.name == "bytes") {
    print_bytes(action.number);
  } else if (action.name == "echo") {
    echo(rank);
  } else if (action.name == "sum") {
    return add_up(launch);
  } else if (action.name == "pid") {
    write_number(action.value, fmt::format("rank.{}", rank), ::getpid());
  } else if (action.name == "child") {
    start_child(action.value, rank);
  } else if (action.name == "deaf") {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
  } else if (action.name == "await") {
    await_file(action.value);
  } else if (action.name == "sleep") {
    std::this_thread::sleep_for(std::chrono::seconds(action.number));
  } else if (action.name == "exit") {
    std::exit(static_cast<int>(action.number));
  } else if (action.name == "kill") {
    ::kill(::getpid(), static_cast<int>(action.number));
  } else {
    return invalid_argument(fmt::format("there is no action '{}'", action.name));
  }
  return {};
}

Status run(int count, char** words) {
  TUTTI_ASSIGN(const auto found, bootstrap::launch_of(os::environment_variable));
  const bootstrap::Launch launch = found.value_or(bootstrap::Launch{});
  for (int i = 1; i < count; ++i) {
    const Action action = parse(words[i]);
    if (action.rank == kNoRank || action.rank == launch.rank) TUTTI_TRY(act(action, launch));
  }
  return {};
}

}  // namespace
}  // namespace tutti::launch

int main(int count, char** words) {
  const tutti::Status status = tutti::launch::run(count, words);
  if (status) return 0;
  fmt::print(stderr, "job_rank: {}\n", status.text());
  return status.code() == tutti::Code::invalid_argument ? tutti::launch::kExitUsage : 1;
}
