#include "tools/tutti/signal_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>

#include "base/text.h"
#include "launch/control/request.h"

namespace tutti::tool {

namespace {

struct Named {
  int signal;
  std::string_view name;
};

constexpr std::array<Named, 24> kSignals = {
    {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},     {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"},
     {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},   {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},
     {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"}, {SIGCHLD, "CHLD"},   {SIGCONT, "CONT"}, {SIGSTOP, "STOP"},
     {SIGTSTP, "TSTP"}, {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGWINCH, "WINCH"}, {SIGIO, "IO"},     {SIGSYS, "SYS"}}};

}  // namespace

std::string signal_name(int signal) {
  const auto found = std::ranges::find(kSignals, signal, &Named::signal);
  return found == kSignals.end() ? fmt::format("signal {}", signal) : fmt::format("SIG{}", found->name);
}

std::optional<int> signal_of(std::string_view name_or_number) {
  if (const auto number = text::integer_of<int>(name_or_number)) {
    return *number >= 1 && *number <= launch::control::kSignalMax ? number : std::nullopt;
  }
  std::string name(name_or_number);
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::toupper(letter); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  const auto found = std::ranges::find(kSignals, name, &Named::name);
  return found == kSignals.end() ? std::nullopt : std::optional(found->signal);
}

}  // namespace tutti::tool
