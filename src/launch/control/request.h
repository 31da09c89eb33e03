// What `tutti ps`, `top` and `kill` ask the launcher of a job: one line of JSON each. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::launch::control {

enum class Ask : std::uint8_t {
  status,   // as the launcher knows it now
  samples,  // the same, once every host was asked what its ranks are doing
  stop,     // end the job as after the first Ctrl-C
  kill,     // as after the second
  signal,   // to the processes of a rank or of all
};

struct Request {
  Ask ask = Ask::status;
  std::int32_t signal = 0;  // of Ask::signal
  Rank rank = kNoRank;      // of Ask::signal; kNoRank: all
  bool operator==(const Request&) const = default;
};

inline constexpr std::size_t kRequestBytesMax = 1024;  // several times what the longest one takes
inline constexpr int kSignalMax = 64;

std::string line_of(const Request& request);  // with its end
Result<Request> parse_request(std::string_view line);

}  // namespace tutti::launch::control
