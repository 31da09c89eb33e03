// Proves every algorithm in every shape it fits, over a range of rank counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tutti/check.h"

namespace tutti::plan {

// A plan to prove.
struct Case {
  const Algorithm* algorithm;
  Shape shape;
  std::string text() const;  // "ring all_reduce ranks=5 lanes=2 in place"
};

// Every case for this many ranks and lanes: each algorithm, every root (and receiver), in place and out of place, with
// the least reach that fits, on one host and on several even and uneven ones, along other rings. Stops when `each` says
// false.
void for_each_case(Rank ranks, std::uint32_t lanes, const std::function<bool(const Case&)>& each);

// Nothing when the plan of the case is proved.
std::optional<std::string> prove(const Case& proof);

}  // namespace tutti::plan
