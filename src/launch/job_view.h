// What others on this machine may see of a running job and ask of it. The launcher implements it, control/ serves it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "launch/message.h"
#include "tutti/status.h"

namespace tutti::launch {

enum class JobState : std::uint8_t { starting, running, stopping };
enum class RankState : std::uint8_t { starting, running, ended, lost };  // lost: with its host

struct RankStatus {
  Rank rank = 0;
  std::string host = {};  // as the user calls it
  std::int32_t pid = 0;   // 0: not started
  RankState state = RankState::starting;
  std::int32_t code = 0;              // of one that has ended, as in Ended
  std::int32_t signal = 0;            // likewise
  std::optional<Sample> sample = {};  // the latest that came
  bool operator==(const RankStatus&) const = default;
};

struct JobStatus {
  std::string name = {};
  std::vector<std::string> command = {};
  std::string folder = {};
  std::int32_t pid = 0;  // of the launcher
  Time started = {};     // on the clock of the machine that the launcher runs on
  JobState state = JobState::starting;
  std::vector<RankStatus> ranks = {};  // by rank
  bool operator==(const JobStatus&) const = default;
};

// On the thread of the launcher's loop; nothing here waits.
class JobView {
 public:
  virtual ~JobView() = default;
  virtual JobStatus status() const = 0;
  virtual void stop() = 0;                           // as after the first Ctrl-C: SIGTERM, the grace, SIGKILL
  virtual void kill() = 0;                           // as after the second: at once
  virtual Status signal(int signal, Rank rank) = 0;  // kNoRank: to all. Fails when there is no such rank any more.
  // Asks all hosts. `done` is called from the loop once they have answered or had their time, and never within this
  // call; status() then has the samples that came.
  virtual void ask_samples(std::function<void()> done) = 0;
};

std::string_view name_of(JobState state);
std::string_view name_of(RankState state);

}  // namespace tutti::launch
