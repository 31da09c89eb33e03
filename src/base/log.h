// Lines for people who want to know what Tutti does. Nothing is written here: os installs the sink that does.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log_area.h"
#include "tutti/types.h"

namespace tutti {

enum class LogLevel : std::uint8_t { error, warning, info, debug };

std::string_view name_of(LogLevel level);

namespace log {

// A pipe takes up to so many bytes in one piece (PIPE_BUF), so that lines of many processes do not mix. Longer ones
// are cut.
inline constexpr std::size_t kLineBytesMax = 4096;

// Takes one whole line with its end. Called by any thread, also by several at once.
using Sink = void (*)(std::string_view line);

// From now on lines up to that level go to the sink. nullptr: nothing is logged, as before the first call.
void install(Sink sink, LogLevel level);
// What lines of info and debug may be about from now on. Warnings and errors are for everybody.
void set_areas(LogAreas areas);

namespace detail {
// Not inline: each of several shared libraries of a process would have one of its own.
extern std::atomic<int> level_limit;
extern std::atomic<std::uint8_t> areas;
}  // namespace detail

inline bool is_on(LogLevel level) {
  return static_cast<int>(level) <= detail::level_limit.load(std::memory_order_relaxed);
}

inline bool is_on(LogLevel level, LogArea area) {
  return is_on(level) &&
         (level <= LogLevel::warning || LogAreas(detail::areas.load(std::memory_order_relaxed)).contains(area));
}

// "tutti: [3] warning: text" and the end of the line; without the brackets for kNoRank, a line of the process as a
// whole. What would begin another line or steer a terminal becomes a blank.
std::string line_of(LogLevel level, Rank rank, std::string_view text);

void write(LogLevel level, Rank rank, std::string_view text);  // about no area: read by all
void write(LogLevel level, Rank rank, LogArea area, std::string_view text);

// For texts that cost something to make: only made when somebody reads them.
template <std::invocable Text>
void write(LogLevel level, Rank rank, Text&& text) {
  if (is_on(level)) write(level, rank, std::string_view(text()));
}
template <std::invocable Text>
void write(LogLevel level, Rank rank, LogArea area, Text&& text) {
  if (is_on(level, area)) write(level, rank, std::string_view(text()));
}

}  // namespace log

}  // namespace tutti
