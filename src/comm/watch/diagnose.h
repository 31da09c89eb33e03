// What the recordings of several ranks say together: who is behind, who made another call, who died.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/watch/recording.h"

namespace tutti::comm::watch {

enum class Trouble : std::uint8_t { mismatch, died, behind, never_arrived, stuck, ended };
std::string_view name_of(Trouble trouble);

struct Finding {
  std::uint64_t communicator = 0;
  Trouble trouble = Trouble::ended;
  std::vector<Rank> ranks;  // the culprits, ascending
  std::uint32_t call = 0;   // on its track; 0: none in particular
  std::string text;         // one sentence
};

// One communicator's recordings, by rank; at most one of each.
struct Job {
  std::uint64_t communicator = 0;
  Rank size = 0;
  std::vector<Recording> recordings;
  std::vector<Rank> missing;  // ranks without a recording
};

// By communicator. Of two recordings of one rank the one that was taken later stays.
std::vector<Job> jobs_of(std::vector<Recording> recordings);

// Only sequences of calls are compared, never times of different hosts. Empty: nothing is wrong as far as can be seen.
std::vector<Finding> diagnose(const Job& job);

// As JSON of the form that docs/guide/flight-recorder.md describes.
std::string json_of(std::span<const Job> jobs, std::span<const Finding> findings);

}  // namespace tutti::comm::watch
