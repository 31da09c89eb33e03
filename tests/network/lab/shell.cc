// lab_shell: what ssh is between machines, between the hosts of a lab, for launchers such as mpirun. TUTTI_LAB has the
// processes that keep the hosts, in order: "4711,4712".
//
//   lab_shell [OPTION OF SSH...] host1 COMMAND...    runs the command as a shell reads it
//   lab_shell --exec host1 PROGRAM ARGUMENT...       runs the program as it is
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/error_text.h"
#include "tests/network/lab/keeper.h"
#include "tests/network/lab/lab.h"

namespace {

using namespace tutti;

Result<pid_t> keeper_of(const std::string& host) {
  const char* keepers = std::getenv("TUTTI_LAB");
  int number = 0;
  for (const std::string_view word : text::split(keepers == nullptr ? "" : keepers, ',')) {
    const auto pid = text::integer_of<pid_t>(word);
    if (pid && lab::Lab::host_name(number) == host) return *pid;
    ++number;
  }
  return invalid_argument(fmt::format("no host '{}' in TUTTI_LAB={}", host, keepers == nullptr ? "" : keepers));
}

Status become(std::vector<std::string> words) {
  const bool is_exact = !words.empty() && words[0] == "--exec";
  while (!words.empty() && words[0].starts_with("-")) words.erase(words.begin());
  if (words.size() < 2) return invalid_argument("give a host and a command: lab_shell host1 COMMAND...");
  TUTTI_ASSIGN(const pid_t keeper, keeper_of(words[0]));
  words.erase(words.begin());
  TUTTI_TRY(lab::enter_host(keeper));
  if (!is_exact) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    words = {"sh", "-c", line};
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  return {Code::invalid_argument, fmt::format("{}: {}", words[0], os::error_text(errno))};
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Status status = become({arguments + 1, arguments + argument_count});
  fmt::print(stderr, "lab_shell: {}\n", status.text());
  return 127;
}
