// The last lines of a rank, for the report about its end: cheap to feed, split only when somebody asks. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "launch/message.h"

namespace tutti::launch {

class Tail {
 public:
  static constexpr std::size_t kLinesMax = 20;
  static constexpr std::size_t kLineBytesMax = 400;                          // longer ones are cut
  static constexpr std::size_t kBytesMax = kLinesMax * (kLineBytesMax + 1);  // that are kept

  // Whatever stderr says is worth more than stdout: from its first byte on, only that is kept.
  void take(Stream stream, std::string_view bytes);
  // Without colours and other control characters, and of progress bars the last state only.
  std::vector<std::string> lines() const;

 private:
  bool is_stderr_ = false;
  bool is_cut_ = false;  // what came before is no longer there, so that the first line may be half of one
  std::string bytes_;    // fewer than twice kBytesMax, so that not every byte moves the others
};

}  // namespace tutti::launch
