// What a loop does while it waits for another core.
#pragma once

#include <sched.h>

namespace tutti::os {

// Tells the core that this is a waiting loop: it saves power, and a sibling hardware thread gets its turn. The headers
// are those that Linux has for one architecture only.
#if __has_include(<asm/ldt.h>)  // x86
inline void relax() { asm volatile("pause" ::: "memory"); }
#elif __has_include(<asm/sve_context.h>)  // AArch64
inline void relax() { asm volatile("yield" ::: "memory"); }
#else
inline void relax() { asm volatile("" ::: "memory"); }
#endif

// Lets another thread have the core, where one is ready.
inline void yield_core() { sched_yield(); }

}  // namespace tutti::os
