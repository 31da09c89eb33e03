// A job that does nothing but remember what was asked of it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launch/job_view.h"

namespace tutti::launch::control {

class FakeJob final : public JobView {
 public:
  JobStatus status() const override { return current; }
  void stop() override { asked.push_back("stop"); }
  void kill() override { asked.push_back("kill"); }
  Status signal(int signal, Rank rank) override {
    if (rank != kNoRank && rank >= static_cast<Rank>(current.ranks.size())) {
      return invalid_argument(fmt::format("there is no rank {}", rank));
    }
    asked.push_back(fmt::format("signal {} to {}", signal, rank));
    return {};
  }
  void ask_samples(std::function<void()> done) override { waiting.push_back(std::move(done)); }

  JobStatus current;
  std::vector<std::string> asked;
  std::vector<std::function<void()>> waiting;  // for samples
};

// Two ranks that run and one that was killed.
inline JobStatus some_job() {
  JobStatus job{.name = "train", .command = {"python3", "train.py", "--name=a b"}, .folder = "/home/ada", .pid = 4711};
  job.state = JobState::running;
  job.ranks = {{.rank = 0, .host = "gpu1", .pid = 100, .state = RankState::running},
               {.rank = 1, .host = "gpu1", .pid = 101, .state = RankState::running},
               {.rank = 2, .host = "gpu2", .pid = 102, .state = RankState::ended, .signal = 9}};
  job.ranks[1].sample = Sample{.rank = 1,
                               .pid = 101,
                               .cpu_permille = 998,
                               .memory_bytes = std::uint64_t{3} << 30,
                               .call = "all_reduce of 1000 float32, sum",
                               .waits_for = "0",
                               .bytes_per_s = 12'500'000'000};
  return job;
}

}  // namespace tutti::launch::control
