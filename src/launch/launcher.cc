#include "launch/launcher.h"

#include <csignal>
#include <memory>

#include "launch/elastic/elastic_run.h"
#include "launch/job_run.h"
#include "launch/signal_watch.h"

namespace tutti::launch {

namespace {

template <class Run>
Result<int> run_as(const Settings& settings, const JobHooks& hooks) {
  const IgnoredSignals ignored;
  TUTTI_ASSIGN(const auto loop, os::EventLoop::create());
  Run job(*loop, settings);
  TUTTI_ASSIGN(const auto signals, SignalWatch::create(*loop, {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT},
                                                       [&](int signal) { job.take_signal(signal); }));
  if (hooks.begin) hooks.begin(*loop, job);
  auto code = job.run();
  if (hooks.end) hooks.end();
  return code;
}

}  // namespace

Result<int> run(const Settings& settings, const JobHooks& hooks) {
  const bool is_elastic = settings.elastic.ranks_min > 0;
  return is_elastic ? run_as<ElasticRun>(settings, hooks) : run_as<JobRun>(settings, hooks);
}

}  // namespace tutti::launch
