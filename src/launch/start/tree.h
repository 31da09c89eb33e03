// Who starts whom: the hosts of a job as a tree, so that many hosts start in a few round trips. Pure.
#pragma once

#include <vector>

#include "launch/job.h"

namespace tutti::launch {

// A host and those that it starts.
struct Bough {
  HostIndex host = 0;
  std::vector<Bough> boughs = {};
  bool operator==(const Bough&) const = default;
};

// At most `width` boughs at each host and at the top, all of them nearly the same size, and as flat as that allows.
// Width 0: all at the top.
std::vector<Bough> tree_of(const std::vector<HostIndex>& hosts, int width);

// The host of a bough and all hosts above which it stands.
std::vector<HostIndex> hosts_of(const Bough& bough);

int depth_of(const std::vector<Bough>& boughs);  // 1: all at the top; 0: none

// The bough of a host, wherever it is. nullptr: there is none.
const Bough* find_bough(const std::vector<Bough>& boughs, HostIndex host);

}  // namespace tutti::launch
