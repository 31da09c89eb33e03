#include "tools/tutti/top/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "os/error_text.h"

namespace tutti::tool::top {

namespace {

// The other screen, no cursor, and no new line where a row is full: a letter that is wider than expected breaks
// nothing.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
termios crash_settings;  // what a handler may use: it exists before the handler does

void put_back_and_crash(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  tcsetattr(STDIN_FILENO, TCSANOW, &crash_settings);
  raise(signal);  // the handler was for once: now it ends the process
}

void handle_crashes(bool is_on) {
  struct sigaction action {};
  action.sa_handler = is_on ? put_back_and_crash : SIG_DFL;
  action.sa_flags = is_on ? static_cast<int>(SA_RESETHAND | SA_NODEFER) : 0;
  for (const int signal : kCrashes) sigaction(signal, &action, nullptr);
}

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::create() {
  termios before{};
  if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0) {
    return invalid_argument("tutti top needs a terminal; give --once or --json where there is none");
  }
  crash_settings = before;
  std::unique_ptr<Terminal> terminal(new Terminal(before));
  terminal->enter();
  return terminal;
}

Terminal::~Terminal() { leave(); }

void Terminal::enter() {
  if (is_entered_) return;
  is_entered_ = true;
  handle_crashes(true);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z stay signals
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  [[maybe_unused]] const Status ignored = write(kEnter);  // the next write tells
}

void Terminal::leave() {
  if (!is_entered_) return;
  is_entered_ = false;
  [[maybe_unused]] const Status ignored = write(kLeave);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  handle_crashes(false);
}

Status Terminal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody has made it non-blocking
      pollfd wait{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return {Code::peer_lost, "cannot write to the terminal: " + os::error_text(errno)};
    }
  }
  return {};
}

Size Terminal::size() const {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {.columns = found.ws_col, .rows = found.ws_row};
}

Result<std::unique_ptr<SignalReader>> SignalReader::create() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) sigaddset(&wanted, signal);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &wanted, &before);
  os::FileDescriptor fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.is_open()) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return Status(Code::internal, "cannot read signals: " + os::error_text(error));
  }
  return std::unique_ptr<SignalReader>(new SignalReader(std::move(fd), before));
}

SignalReader::~SignalReader() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int SignalReader::take() {
  signalfd_siginfo found{};
  return ::read(fd_.get(), &found, sizeof(found)) == sizeof(found) ? static_cast<int>(found.ssi_signo) : 0;
}

}  // namespace tutti::tool::top
