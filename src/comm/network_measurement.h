// How all ranks of a job come to the same numbers about the network between their hosts.
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/deadline.h"
#include "comm/job.h"
#include "comm/side.h"

namespace tutti::comm {

// Of a side on several hosts, before its first call, by all its ranks: rank 0 measures with the first ranks of a few
// other hosts, one after the other, and tells everybody what the slowest of these ways can do. Should a rank be lost
// meanwhile, all ranks fail with the same sentence. Where measuring does not work otherwise the rates stay unknown.
// `actors`: who the ranks are.
Status measure_together(Side& side, const std::shared_ptr<Job>& job, const std::vector<ActorId>& actors,
                        Deadline deadline);

// Whom rank 0 measures with: near, far and between, as hosts are numbered.
std::vector<Rank> probe_partners(const std::vector<Rank>& host_of);

// What calls over both ways will wait for.
NetworkRates slower_of(const NetworkRates& a, const NetworkRates& b);

// What rank 0 tells: rates, or why there is no job.
Bytes pack_outcome(const Result<NetworkRates>& outcome);
Result<NetworkRates> parse_outcome(std::span<const std::byte> bytes);

}  // namespace tutti::comm
