// A cluster whose hosts are all well, for tests that break something in it.
#pragma once

#include "tools/tutti/check/cluster.h"

namespace tutti::tool::check {

inline Cluster good_cluster(Rank size) {
  Cluster cluster;
  for (Rank rank = 0; rank < size; ++rank) {
    const std::string name = "gpu" + std::to_string(rank + 1);
    HostReport report{.host = name, .version = "0.1.0"};
    report.facts = {{"tutti", "0.1.0"}, {"cores", "64"}, {"memory", "512 GiB"}};
    report.findings = {{.what = "build", .text = "tutti 0.1.0"}};
    cluster.hosts.push_back({.name = name, .failure = "", .report = report});
  }
  for (Rank a = 0; a < size; ++a) {
    for (Rank b = a + 1; b < size; ++b) {
      cluster.pairs.push_back({.a = a,
                               .b = b,
                               .latency_s = 20e-6,
                               .there_bytes_per_s = 3e9,
                               .back_bytes_per_s = 3e9,
                               .clock_offset_s = 0,
                               .way = "eth0 to eth0"});
    }
  }
  return cluster;
}

inline Pair& pair_between(Cluster& cluster, Rank a, Rank b) {
  for (Pair& pair : cluster.pairs) {
    if (pair.a == a && pair.b == b) return pair;
  }
  return cluster.pairs.front();
}

}  // namespace tutti::tool::check
