#include "os/thread.h"

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>

namespace tutti::os {

namespace {

// All but those that say what this very thread did: blocked, they would kill the process past its handlers.
sigset_t signals_to_block() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&signals, fault);
  return signals;
}

}  // namespace

Result<Thread> Thread::start(std::string_view name, std::function<void()> work) {
  constexpr std::size_t kNameLengthMax = 15;
  // A thread inherits the mask of its creator: set before, there is no moment at which it could take a signal.
  const sigset_t blocked = signals_to_block();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  Result<Thread> thread = Status();
  try {
    thread = Thread(std::thread([label = std::string(name.substr(0, kNameLengthMax)), work = std::move(work)] {
      pthread_setname_np(pthread_self(), label.c_str());
      work();
    }));
  } catch (const std::system_error& error) {
    thread = Status(Code::out_of_memory,
                    fmt::format("cannot start the thread '{}': {}; look at the limits of processes ('ulimit -u') and "
                                "of the container's tasks",
                                name, error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    join();
    thread_ = std::move(other.thread_);
  }
  return *this;
}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace tutti::os
