// The news of a rank's owner that went around lately: which have been seen, and what to repeat after a loss.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "bootstrap/membership/member_message.h"

namespace tutti::bootstrap {

class Notices {
 public:
  // Whether it is new here. Sequences may come in any order within the last 64 of an origin; older ones count as seen.
  bool add(const Notice& notice);
  const std::deque<Notice>& recent() const {
    return recent_;
  }  // the last few, for a neighbour that may have missed any

 private:
  struct Seen {
    std::uint64_t newest = 0;
    std::uint64_t before = 0;  // bit i: newest - 1 - i
  };
  std::map<Rank, Seen> seen_;
  std::deque<Notice> recent_;
};

}  // namespace tutti::bootstrap
