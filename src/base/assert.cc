#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace tutti {

void fail_assert(const char* expression, const char* why, const char* file, int line) {
  std::fprintf(stderr, "tutti: %s:%d: %s does not hold: %s. This is a bug in Tutti; please report it.\n", file, line,
               expression, why);
  std::abort();
}

}  // namespace tutti
