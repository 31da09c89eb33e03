#include "launch/signal_watch.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "os/error_text.h"

namespace tutti::launch {

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<SignalWatch>> SignalWatch::create(os::EventLoop& loop, const std::vector<int>& signals,
                                                         std::function<void(int)> on_signal) {
  sigset_t set, before;
  sigemptyset(&set);
  for (const int signal : signals) {
    if (!is_ignored(signal)) sigaddset(&set, signal);
  }
  os::FileDescriptor descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor.is_open()) {
    return Status(Code::out_of_memory, fmt::format("cannot wait for signals: {}; look at the limit of open files "
                                                   "('ulimit -n')",
                                                   os::error_text(errno)));
  }
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  std::unique_ptr<SignalWatch> watch(new SignalWatch(loop, std::move(descriptor), before));  // NOLINT: private
  watch->on_signal_ = std::move(on_signal);
  TUTTI_ASSIGN(watch->watch_,
               loop.watch(watch->descriptor_.get(), os::kReadable, [raw = watch.get()] { raw->take(); }));
  return watch;
}

SignalWatch::~SignalWatch() {
  loop_.unwatch(watch_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// One at a time: the loop calls again while there are more.
void SignalWatch::take() {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    on_signal_(static_cast<int>(info.ssi_signo));
}

IgnoredSignals::IgnoredSignals() {
  for (const int signal : {SIGPIPE, SIGTTIN, SIGTTOU}) {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    if (::sigaction(signal, &ignore, &before) == 0) before_.emplace_back(signal, before);
  }
}

IgnoredSignals::~IgnoredSignals() {
  for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
}

}  // namespace tutti::launch
