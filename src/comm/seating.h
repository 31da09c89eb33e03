// What ranks tell each other of their memory when they meet, and how each finds that of the others of its host.
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "comm/measure.h"
#include "comm/side.h"
#include "transport/shm/process.h"

namespace tutti::comm {

// What a rank tells the others beside how to find its process.
struct Introduction {
  std::uint64_t memory_at = 0;     // in its heap
  std::uint64_t memory_limit = 0;  // that it was told to keep to; 0: none
  LocalRates rates;                // rank 0's count
  NetworkRates network = {};       // what rank 0 knows already
  // Whether the network is to be measured where that is nothing and there are several hosts; rank 0's word counts.
  std::uint64_t wants_measure = 0;
  WireCompression compression = WireCompression::off;
  std::uint8_t rails_max = 1;  // these, too, are rank 0's
  std::uint8_t sockets_per_peer = 1;
  std::uint64_t algorithms = 0;  // a fingerprint of what the planner may choose from: all have to plan alike
};
static_assert(std::is_trivially_copyable_v<Introduction>);

struct Introduced {
  Introduction introduction;
  Bytes card;  // of its process, for transport::Mesh
};

// Takes memory from the heap for this rank; none where its limit is too small, which all ranks have to learn: see
// compare(). Rank 0 measures what the machine can do.
Result<Introduction> introduce(const CommunicatorOptions& options, Membership& membership);

// Fails when ranks were told to choose among different algorithms or to keep to different limits, or when their limit
// is too small: alike on all of them.
Status compare(std::span<const Introduction> introductions);

Bytes pack(const Introduction& introduction, std::span<const std::byte> card);
Result<Introduced> parse_introduction(std::span<const std::byte> bytes, Rank rank);

// The next rank of the membership is one of this host.
Status seat(Membership& membership, Rank rank, const std::shared_ptr<const transport::Process>& process,
            const Introduction& introduction);

planner::LocalMachine machine_of(const LocalRates& rates, Rank ranks, bool can_pull);
// What is pulled through the kernel takes room for pieces of all ranks, which nobody has who keeps to a limit.
inline bool can_pull_under(std::size_t memory_limit) { return memory_limit == 0; }
bool can_all_pull(const std::vector<transport::Member>& members);  // of this host

}  // namespace tutti::comm
