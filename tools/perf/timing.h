// How long calls take: all iterations together, as nccl-tests measures, and each of them alone.
#pragma once

#include <span>
#include <vector>

#include "tools/perf/job.h"

namespace tutti::perf {

// Of one call, as this thread sees it.
struct Timing {
  double until_done_us = 0;
  double until_returned_us = 0;  // the calls have returned; streams may still be busy
};

Result<Timing> time_calls(const Job& job, const Case& test, std::span<const Station> stations, int thread);

// Once, without timing; through a graph where the run uses graphs.
Status run_once(const Job& job, const Case& test, std::span<const Station> stations);

enum class Beginning : std::uint8_t {
  at_once,   // one iteration after the other, as a program that waits for nobody
  together,  // all ranks wait for each other before each iteration: who is slow is then slow by himself
};

// Microseconds of a call by iteration, for each station: what lies between two events of its stream.
using Samples = std::vector<std::vector<double>>;
Result<Samples> sample_calls(const Job& job, const Case& test, std::span<const Station> stations, int thread,
                             Beginning beginning);

}  // namespace tutti::perf
