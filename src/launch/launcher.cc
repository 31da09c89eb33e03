#include "launch/launcher.h"

#include <csignal>
#include <memory>

#include "launch/job_run.h"
#include "launch/signal_watch.h"

namespace tutti::launch {

Result<int> run(const Settings& settings, const JobHooks& hooks) {
  const IgnoredSignals ignored;
  TUTTI_ASSIGN(const auto loop, os::EventLoop::create());
  JobRun job(*loop, settings);
  TUTTI_ASSIGN(const auto signals, SignalWatch::create(*loop, {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT},
                                                       [&](int signal) { job.take_signal(signal); }));
  if (hooks.begin) hooks.begin(*loop, job);
  auto code = job.run();
  if (hooks.end) hooks.end();
  return code;
}

}  // namespace tutti::launch
