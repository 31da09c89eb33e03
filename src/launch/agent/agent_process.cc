#include "launch/agent/agent_process.h"

#include <chrono>
#include <csignal>

#include "launch/agent/guard.h"
#include "launch/signal_watch.h"
#include "os/event_loop.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::milliseconds kSignalGrace(2000);
constexpr std::chrono::milliseconds kGuardGrace(1000);  // without a guard nobody helps: better be quick

}  // namespace

Status run_agent(AgentSettings settings, const std::function<Result<AgentLine>()>& open) {
  TUTTI_ASSIGN(const os::FileDescriptor guard, fork_under_guard());
  const IgnoredSignals ignored;
  TUTTI_ASSIGN(const auto loop, os::EventLoop::create());
  // Before anything else, which may start threads: the signals are for the loop, whoever they hit.
  Agent* agent = nullptr;
  TUTTI_ASSIGN(const auto signals, SignalWatch::create(*loop, {SIGTERM, SIGINT, SIGHUP, SIGCHLD}, [&](int signal) {
                 if (agent == nullptr) return;
                 if (signal == SIGCHLD) return agent->reap();
                 agent->leave(kSignalGrace, signal == SIGTERM ? "it was told to (SIGTERM)" : "it was interrupted");
               }));
  TUTTI_ASSIGN(auto line, open());
  settings.host = line.host;
  Agent here(*loop, std::move(line.duct), line.greets, std::move(settings));
  agent = &here;
  os::EventLoop::Watch watch;
  TUTTI_ASSIGN(watch, loop->watch(guard.get(), os::kReadable, [&] {
    loop->unwatch(watch);
    here.leave(kGuardGrace, "its guard was killed");
  }));
  TUTTI_TRY(here.start());
  loop->run_until([&] { return here.is_over(); }, Deadline::never());
  agent = nullptr;
  loop->unwatch(watch);
  return {};
}

}  // namespace tutti::launch
