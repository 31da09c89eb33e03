#include "comm/watch/dump_signal.h"

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "comm/watch/dump.h"
#include "comm/watch/logbook.h"
#include "os/thread.h"

namespace tutti::comm::watch {

namespace {

sem_t asked;  // posting one is among the few things that a handler may do

void handle(int) {
  const int error = errno;
  sem_post(&asked);
  errno = error;
}

void answer() {
  for (;;) {
    while (sem_wait(&asked) != 0) {
    }
    dump_on_demand(Logbook::of_process().read_all());
  }
}

int signal_of(std::string_view name) {
  if (name == "USR1") return SIGUSR1;
  if (name == "USR2") return SIGUSR2;
  return 0;
}

Status start(std::string_view name) {
  const int signal = signal_of(name);
  if (signal == 0) {
    return invalid_argument(fmt::format("TUTTI_DUMP_SIGNAL is '{}'; it can be USR1 or USR2", name));
  }
  struct sigaction present {};
  if (sigaction(signal, nullptr, &present) != 0 || (present.sa_handler != SIG_DFL && present.sa_handler != handle)) {
    return invalid_argument(fmt::format(
        "TUTTI_DUMP_SIGNAL is '{}', which the program handles itself; use 'tutti inspect {}'", name, getpid()));
  }
  if (sem_init(&asked, 0, 0) != 0) return {Code::internal, "cannot make a semaphore"};
  TUTTI_ASSIGN(auto thread, os::Thread::start("tutti-dump", answer));
  // Never joined: the signal may come until the process ends.
  [[maybe_unused]] const auto* forever = std::make_unique<os::Thread>(std::move(thread)).release();
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  if (sigaction(signal, &action, nullptr) != 0) return {Code::internal, "cannot handle the signal"};
  return {};
}

}  // namespace

void answer_dump_signal() noexcept {
  static std::mutex mutex;
  static pid_t answered = 0;  // a process that was forked has no thread to answer
  const char* name = std::getenv("TUTTI_DUMP_SIGNAL");
  if (name == nullptr || *name == 0 || std::string_view(name) == "off") return;
  const std::lock_guard lock(mutex);
  if (answered == getpid()) return;
  answered = getpid();
  if (const Status status = start(name); !status) fmt::print(stderr, "tutti: {}\n", status.text());
}

}  // namespace tutti::comm::watch
