#include "tests/network/lab/launch.h"

#include <csignal>
#include <optional>

#include "os/clock.h"

namespace tutti::lab {

Ending launch(const Words& words, const Circumstances& circumstances) {
  auto process = Process::start(
      circumstances.keeper,
      {.words = words, .environment = circumstances.environment, .input = "", .folder = circumstances.folder});
  if (!process) return {kOvertime, std::string(process.status().text())};
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  const auto has_spoken = [&] {
    return !circumstances.last_words.empty() && process->output().find(circumstances.last_words) != std::string::npos;
  };
  std::optional<int> code;
  while (!code && !has_spoken() && !deadline.has_passed(os::now())) code = process->wait(kLook);
  if (!code && has_spoken()) code = process->wait(kGrace);
  if (code) return {*code, process->output()};
  const int instead = has_spoken() ? kSpoken : kOvertime;
  process->send(SIGTERM);
  process->wait(kGrace);
  return {instead, process->output()};
}

bool has_program(const std::string& name) {
  return run_program(kThisMachine, {.words = {"sh", "-c", "command -v " + name}}, kLimit).is_ok();
}

}  // namespace tutti::lab
