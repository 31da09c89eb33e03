// Which hosts an elastic job does not use for a while, or not any more, because they failed. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/random.h"

namespace tutti::launch {

struct Cooldown {
  std::chrono::nanoseconds min{0}, max{0};  // max 0: hosts stay out for good
};

class Blacklist {
 public:
  Blacklist(Cooldown cooldown, std::uint64_t seed) : cooldown_(cooldown), random_(seed) {}

  // Out for about twice as long as the time before, between the least and the most. Jitter keeps hosts that failed
  // together from coming back together.
  void add(const std::string& host, const std::string& why, Time now);

  bool has(const std::string& host, Time now) const;
  bool has_for_good(const std::string& host) const;
  std::optional<Time> next_end(Time now) const;  // when the next host may come back
  std::string text(Time now) const;  // "gpu3 for good (lost), gpu4 for 12 s more (3 ranks failed)", or empty

 private:
  struct Entry {
    int count = 0;
    Deadline end = Deadline::never();
    std::string why = {};
  };
  Cooldown cooldown_;
  Random random_;
  std::map<std::string, Entry> entries_;
};

}  // namespace tutti::launch
