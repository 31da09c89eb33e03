// What must hold. A broken invariant stops the process: going on would only move the damage away from its cause.
#pragma once

namespace tutti {

[[noreturn]] void fail_assert(const char* expression, const char* why, const char* file, int line);

}  // namespace tutti

#define TUTTI_ASSERT(expression, why) \
  ((expression) ? static_cast<void>(0) : ::tutti::fail_assert(#expression, why, __FILE__, __LINE__))

#ifdef NDEBUG
#define TUTTI_DCHECK(expression, why) static_cast<void>(0)
#else
#define TUTTI_DCHECK(expression, why) TUTTI_ASSERT(expression, why)
#endif
