// The worlds of an elastic job: who takes part from one failure, or one new host, to the next, and how a process learns
// of it from the store of its launcher.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/deadline.h"
#include "bootstrap/store.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// A process of an elastic job, from 0, never given twice. Its rank changes from world to world, this does not.
using WorkerId = std::int32_t;

struct WorldMember {
  WorkerId worker = 0;
  std::string host = {};  // as the launcher names it
  int slot = 0;           // among those of the host: which devices are its own, for as long as it lives
  int joined = 0;         // the first generation that it was in: newcomers have no state yet
  bool operator==(const WorldMember&) const = default;
};

struct JobWorld {
  int generation = 0;
  std::string store = {};                 // where this world meets; every world has a place of its own
  std::vector<WorldMember> members = {};  // by rank; those who were there before come first, in the order they had
  bool operator==(const JobWorld&) const = default;

  Rank size() const { return static_cast<Rank>(members.size()); }
  Rank rank_of(WorkerId worker) const;  // kNoRank: not part of it
};

inline constexpr std::size_t kWorldMembersMax = std::size_t{1} << 16;
inline constexpr std::size_t kWorldTextBytesMax = 4096;  // of an address or the name of a host

Bytes encode(const JobWorld& world);
Result<JobWorld> parse_job_world(std::span<const std::byte> bytes);

// What a launcher puts into the environment of each process of an elastic job.
inline constexpr std::string_view kWorkerVariable = "TUTTI_WORKER";
inline constexpr std::string_view kGenerationVariable = "TUTTI_GENERATION";  // of the first world it may be part of
inline constexpr std::string_view kJobStoreVariable = "TUTTI_STORE";

struct WorkerPlace {
  WorkerId worker = 0;
  int first_generation = 0;  // at the earliest
  std::string store = {};
};
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;
// nullopt: not started by a launcher of elastic jobs. Fails where the variables are half set or make no sense.
Result<std::optional<WorkerPlace>> worker_place_of(const EnvironmentLookup& environment);

// ---- for launchers

// Generations come one after the other, from 0.
Status publish_world(Store& store, const JobWorld& world);
// No world will come any more; whoever waits for one learns why.
Status close_worlds(Store& store, std::string_view why);
// The newest generation whose members have reported a failure, -1 for none; who asks again and again gets no news
// twice.
Result<int> reported_generation(Store& store);

// ---- for the processes of a job

// The newest world; nullopt when there is none yet.
Result<std::optional<JobWorld>> current_world(Store& store);
// The newest world behind `after_generation`, once there is one. Where the worker is not part of it any more, it has to
// end. A newcomer, who was in no world yet, says -1 and gets the first one that it is part of. aborted: the launcher
// has given the job up, with its reason.
Result<JobWorld> await_world(Store& store, WorkerId worker, int after_generation, Deadline deadline);
// Whether there is a newer world than that one: asked between the steps of a program, it costs one round trip.
Result<bool> has_newer_world(Store& store, int generation);
// The ranks of this world cannot work together any more, whether or not a process has ended: the launcher forms a new
// one. Reports about worlds that are over already change nothing.
Status report_failure(Store& store, int generation);

}  // namespace tutti::bootstrap
