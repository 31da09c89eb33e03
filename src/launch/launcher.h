// Runs a job: starts its agents, has them start its ranks, and stays until nothing of it is left anywhere.
#pragma once

#include <functional>

#include "launch/job_view.h"
#include "launch/settings.h"
#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

// Somebody who looks at the job while it runs. Both are called once, on the thread of the loop.
struct JobHooks {
  std::function<void(os::EventLoop& loop, JobView& job)> begin = {};  // before anything is started
  std::function<void()> end = {};                                     // the last moment of the loop and the view
};

// The exit code of the job. A failure means that no rank has run, and why. As long as it runs it has the standard
// streams of the process, its terminal and the signals that end, stop and continue it. The caller has no threads that
// take these signals.
Result<int> run(const Settings& settings, const JobHooks& hooks = {});

}  // namespace tutti::launch
