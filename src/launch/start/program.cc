#include "launch/start/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "os/error_text.h"

namespace tutti::launch {

namespace {

constexpr int kReadsMax = 32;  // in a row: more than a pipe holds, and others have their turn too

}  // namespace

Result<std::unique_ptr<Program>> Program::start(os::EventLoop& loop, const Settings& settings) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status(Code::out_of_memory,
                  fmt::format("cannot create a pipe: {}; look at 'ulimit -n'", os::error_text(errno)));
  }
  os::FileDescriptor ours(ends[0]);
  const os::FileDescriptor theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  TUTTI_ASSIGN(auto child, os::ChildProcess::start({.words = settings.words,
                                                    .environment = settings.environment,
                                                    .input = settings.input,
                                                    .output = settings.keeps_output ? theirs.get() : settings.output,
                                                    .error = theirs.get()}));
  std::unique_ptr<Program> program(new Program(loop, std::move(child), std::move(ours)));  // NOLINT: private
  program->has_children_ = settings.has_children;
  TUTTI_TRY(program->watch());
  return program;
}

Status Program::watch() {
  TUTTI_ASSIGN(error_watch_, loop_.watch(error_.get(), os::kReadable, [this] { read(); }));
  TUTTI_ASSIGN(end_watch_, loop_.watch(child_.descriptor(), os::kReadable, [this] {
    end_ = child_.try_wait();
    if (!end_) return;
    loop_.unwatch(end_watch_);
    if (on_end_) on_end_();
  }));
  return {};
}

void Program::signal(int signal) const {
  if (end_) return;
  has_children_ ? child_.signal_group(signal) : child_.send_signal(signal);
}

Program::~Program() {
  loop_.unwatch(end_watch_);
  loop_.unwatch(error_watch_);
  if (end_) return;
  signal(SIGKILL);
  pollfd wait{.fd = child_.descriptor(), .events = POLLIN, .revents = 0};
  ::poll(&wait, 1, 1000);  // a killed process is gone soon, unless its disk or network hangs
  child_.try_wait();
}

const std::string& Program::complaints() {
  read();
  return complaints_;
}

void Program::read() {
  std::array<char, 4096> space;  // not initialised: it is filled at once
  for (int turn = 0; turn < kReadsMax; ++turn) {
    const ssize_t count = ::read(error_.get(), space.data(), space.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) loop_.unwatch(error_watch_);
    if (count <= 0) return;
    complaints_.append(space.data(), static_cast<std::size_t>(count));
    if (complaints_.size() > kComplaintBytesMax) complaints_.erase(0, complaints_.size() - kComplaintBytesMax);
  }
}

}  // namespace tutti::launch
