// What this machine's memory does, measured in about a millisecond when a communicator starts; one rank's answer counts
// for all, so that they choose alike.
#pragma once

#include <string>

#include "planner/local.h"

namespace tutti::comm {

struct LocalRates {
  double load_bytes_per_s = 0;  // 0: not measured
  double store_bytes_per_s = 0;
  double pull_bytes_per_s = 0;
  double switch_s = 0;
  int cores = 0;
};

// Between two hosts, as one pair of ranks has measured it; 0: not measured.
struct NetworkRates {
  double latency_s = 0;  // one way, of a small message
  double bytes_per_s = 0;
  double message_s = 0;  // of a core, per message

  bool is_known() const { return bytes_per_s > 0; }
  bool is_sane() const;      // nothing that no network has; for what comes from elsewhere
  std::string text() const;  // "12 us one way, 1.1 GB/s, 2 us of a core per message"
  bool operator==(const NetworkRates&) const = default;
};

LocalRates measure_rates();
planner::LocalMachine with_rates(const LocalRates& rates);

}  // namespace tutti::comm
