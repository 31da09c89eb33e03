// How calls of one kind and size run: decided at the first of them, the same on every rank, and kept.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/knobs.h"
#include "comm/description.h"
#include "comm/measure.h"
#include "engine/host/launch.h"
#include "engine/host/workspace.h"
#include "planner/local.h"
#include "tutti/call.h"
#include "tutti/communicator.h"

namespace tutti::comm {

// Two ways where it depends on the buffers: `preferred` where those that it reaches can be reached this time.
struct Decision {
  CallKey key;
  std::uint32_t fingerprint = 0;
  std::shared_ptr<const engine::Launch> preferred;  // may be empty
  std::shared_ptr<const engine::Launch> fallback;   // always there
  std::vector<Rank> asked;                          // whose facts decide between them
  std::vector<std::uint32_t> needed;                // per rank: facts that `preferred` rests on
  bool preferred_runs_in_place = true;
  std::uint8_t preferred_index = 0;  // for the flight recorder, see plan_index()
  std::uint8_t fallback_index = 0;
  bool is_flash = false;           // the fallback, which is then the only way
  bool is_beyond_allowed = false;  // nothing that is allowed can run
  std::uint64_t in_bytes = 0;      // of this rank's buffers
  std::uint64_t out_bytes = 0;
  std::uint64_t in_shift = 0;  // how far into the plan's buffer the caller's begins
  std::uint64_t out_shift = 0;
};

struct DecisionContext {
  planner::LocalMachine machine;
  Rank self = 0;
  bool is_one_process = false;       // everybody's memory is everybody's
  bool is_host_one_process = false;  // that of the ranks of this host
  std::vector<Rank> hosts = {};      // of each rank; empty: all are on one
  NetworkRates network = {};         // between hosts
  WireCompression compression = WireCompression::off;
  std::string algorithm = {};                   // instead of the planner's choice
  std::vector<AllowedAlgorithms> allowed = {};  // as in CommunicatorOptions
  std::string allowed_by = {};
  engine::LaunchOptions launch;
  std::size_t private_bytes_max = 0;   // what the channel may take beside its block; 0: as much as it needs
  std::size_t memory_limit_bytes = 0;  // of the communicator, for people; 0: none
};

// The elements that a rank's buffers must have, for counts that are valid.
struct BufferSizes {
  std::uint64_t in_elements = 0;
  std::uint64_t out_elements = 0;
};
Status validate_counts(const Call& call, Rank size);
BufferSizes buffer_sizes(const Call& call, Rank rank, Rank size);

Result<Decision> decide(const DecisionContext& context, const Call& call);
std::string explain(const DecisionContext& context, const Call& call);
// What the planner expects the call to take; 0 where it does not know.
double estimate_s(const DecisionContext& context, const Call& call);

// Decisions made so far. Bounded: a program that never repeats a size starts over now and then.
class DecisionCache {
 public:
  static constexpr std::size_t kLimit = 1024;
  const Decision* find(const CallKey& key) const {
    if (last_ != nullptr && last_->key == key) return last_;
    return find_slowly(key);
  }
  // `taken_bytes`: what the channel takes beside decisions and workspace.
  Result<const Decision*> add(const DecisionContext& context, const Call& call, engine::Workspace& workspace,
                              std::size_t taken_bytes = 0);
  std::size_t bytes() const { return bytes_; }

 private:
  struct Hash {
    std::size_t operator()(const CallKey& key) const { return key.hash(); }
  };
  const Decision* find_slowly(const CallKey& key) const;
  void warn_once(const DecisionContext& context, const Call& call);
  void clear();
  Status make_room(const DecisionContext& context, const Decision& decision, engine::Workspace& workspace,
                   std::size_t taken_bytes);
  std::unordered_map<CallKey, std::unique_ptr<Decision>, Hash> decisions_;
  mutable const Decision* last_ = nullptr;
  std::size_t bytes_ = 0;
  bool has_warned_ = false;  // that a call runs beyond what is allowed
};

}  // namespace tutti::comm
