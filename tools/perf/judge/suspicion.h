// What looks wrong about the times of a run, each with a sentence and what to check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/perf/judge/curve.h"
#include "tools/perf/judge/surroundings.h"
#include "tools/perf/results.h"

namespace tutti::perf {

enum class SuspicionKind : std::uint8_t {
  dip,        // less bandwidth than at smaller and at larger sizes
  plateau,    // large sizes end far below the limit
  latency,    // small sizes take several times the limit
  disagree,   // others take more than twice the limit
  too_fast,   // below the limit: the topology is not this machine
  placement,  // out of place and in place differ
  variation,  // repetitions or iterations scatter
  warm_up,    // the first iteration is far slower than the others
  interface,  // a setting names a network that cannot be meant
};
std::string_view name_of(SuspicionKind kind);  // "dip"

struct Suspicion {
  SuspicionKind kind = SuspicionKind::dip;
  std::uint64_t first_bytes = 0;  // the sizes it is about
  std::uint64_t last_bytes = 0;
  std::string sentence;
  std::string remedy;

  bool operator==(const Suspicion&) const = default;
};

// What times alone show: dips, placement, variation, warm-up, interface.
std::vector<Suspicion> suspicions_of(const Run& run);

// What times show against those that the machine should take, one for each point of the curve; 0: not known.
std::vector<Suspicion> suspicions_against(const SizeCurve& curve, const std::vector<double>& limits_us,
                                          const Surroundings& surroundings);

// What both placements of one curve show as one list: a sentence on the same sizes says it of both.
std::vector<Suspicion> merged(const CurvePair& pair, std::vector<Suspicion> out_of_place,
                              std::vector<Suspicion> in_place);

}  // namespace tutti::perf
