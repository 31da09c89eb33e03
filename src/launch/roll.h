// What is known of each rank of a job at the moment.
#pragma once

#include <string>
#include <vector>

#include "launch/job_view.h"
#include "launch/layout.h"
#include "launch/message.h"
#include "launch/settings.h"

namespace tutti::launch {

class Roll {
 public:
  Roll(const Settings& settings, Time started);

  void begin(const Layout& layout);  // a new world: nobody has started
  void set_state(JobState state) { status_.state = state; }
  void started(const Started& started);
  void cannot_start(Rank rank);
  void ended(const Ended& ended);
  void lost(const Layout& layout, HostIndex host);
  void sampled(const Samples& samples);

  const JobStatus& status() const { return status_; }
  bool is_running(Rank rank) const;

 private:
  RankStatus* find(Rank rank);
  JobStatus status_;
};

}  // namespace tutti::launch
