// How the ranks of these tests meet, and how much of the longer versions of the tests runs.
#pragma once

#include <cstdlib>
#include <string>

#include "tutti/communicator.h"

namespace tutti::conformance {

// ./test --all sets it.
inline bool runs_all() { return std::getenv("TUTTI_TEST_ALL") != nullptr; }

struct Times {
  std::chrono::nanoseconds call = std::chrono::seconds(20);
  std::chrono::nanoseconds start = std::chrono::seconds(20);
};

inline Result<Communicator> meet(Rank rank, Rank size, const std::string& path, Times times = {}) {
  return Communicator::create(
      {.rank = rank, .size = size, .store = "file:" + path, .start_timeout = times.start, .timeout = times.call});
}

// A code and a sentence in one text, for what a process says at its end.
inline std::string spoken(const Status& status) {
  return std::string(name_of(status.code())) + ": " + std::string(status.text());
}

}  // namespace tutti::conformance
