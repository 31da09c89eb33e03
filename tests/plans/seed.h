// The seed of tests that draw random cases: TUTTI_SEED, which ./test derives from the commit. Failures print it.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "base/text.h"

namespace tutti {

inline std::uint64_t test_seed() {
  const char* given = std::getenv("TUTTI_SEED");
  return given == nullptr ? 1 : text::integer_of<std::uint64_t>(given).value_or(1);
}

}  // namespace tutti
