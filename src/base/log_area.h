// What lines of the log are about, and which of these somebody wants to read.
#pragma once

#include <cstdint>
#include <string_view>

#include "tutti/status.h"

namespace tutti {

enum class LogArea : std::uint8_t { start, network, calls, plans, memory, settings };

// A set of areas.
class LogAreas {
 public:
  static constexpr LogAreas all() { return LogAreas(0xff); }
  static constexpr LogAreas none() { return LogAreas(0); }
  static constexpr LogAreas of(LogArea area) {
    return LogAreas(static_cast<std::uint8_t>(1u << static_cast<int>(area)));
  }
  explicit constexpr LogAreas(std::uint8_t bits) : bits_(bits) {}

  constexpr bool contains(LogArea area) const { return (bits_ & of(area).bits_) != 0; }
  constexpr LogAreas with(LogAreas other) const { return LogAreas(static_cast<std::uint8_t>(bits_ | other.bits_)); }
  constexpr LogAreas without(LogAreas other) const { return LogAreas(static_cast<std::uint8_t>(bits_ & ~other.bits_)); }
  constexpr std::uint8_t bits() const { return bits_; }
  bool operator==(const LogAreas&) const = default;

 private:
  std::uint8_t bits_;
};

// "network,plans", or "^network": all but those after ^. The names of NCCL's subsystems (NET, TUNING) are understood,
// too, and upper and lower case are the same. An empty text means all.
Result<LogAreas> parse_log_areas(std::string_view text);

}  // namespace tutti
