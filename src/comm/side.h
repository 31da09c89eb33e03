// One rank's side of a communicator: its memory, its channels to the others, and how its calls come to an end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "comm/layout.h"
#include "comm/measure.h"
#include "comm/operation.h"
#include "comm/outside.h"
#include "comm/track.h"
#include "tutti/communicator.h"

namespace tutti::comm {

class Side;

// What a rank knows of the others before it makes its side.
struct Membership {
  Rank rank = 0;
  SideLayout layout = SideLayout();           // of each rank's memory
  std::vector<transport::Member> peers = {};  // by rank
  std::vector<std::byte*> memories = {};      // of each, as mapped here; of those on other hosts nullptr
  std::vector<Rank> hosts = {};               // of each rank the number of its host; empty: all are here
  planner::LocalMachine machine = {};         // the same on every rank
  std::shared_ptr<std::byte> own = {};        // keeps this rank's memory, which others read
  std::size_t own_bytes = 0;                  // of which the layout may leave some
  NetworkRates network = {};                  // between hosts, the same on every rank
  // Of sums between hosts, the same on every rank.
  WireCompression compression = WireCompression::off;
  // After how long of waiting a rank that lives is named in a warning; nothing: never.
  std::optional<std::chrono::nanoseconds> late_warning = {};
};

// Made with the side, because it needs the bell of its rank.
using MakeOutside = std::function<std::unique_ptr<Outside>(Side&, const Links::Shape&)>;

class Side {
 public:
  // `make_outside`: where ranks are on other hosts.
  Side(Membership membership, const CommunicatorOptions& options, const MakeOutside& make_outside = {});
  ~Side();

  Rank rank() const { return rank_; }
  Rank size() const { return static_cast<Rank>(peers_.size()); }
  const CommunicatorOptions& options() const { return options_; }
  const std::vector<transport::Member>& peers() const { return peers_; }
  const planner::LocalMachine& machine() const { return machine_; }

  bool is_one_process() const { return is_one_process_; }
  const void* block_of(Rank rank) const {
    return memories_[static_cast<std::size_t>(rank)];
  }  // the same on all of a host

  Status validate(const Call& call) const;
  // The channel that a valid call goes through; made at the first message between two ranks.
  Track& track_of(const Call& call);
  // Whether a valid call asks for nothing at all: an empty message to oneself, of which nobody knows which end it is.
  static bool is_nothing(const Call& call) {
    return call.collective == plan::Collective::send_receive && call.root == call.peer && call.count == 0;
  }
  // The call as its channel numbers ranks: between two, the sender is 0 and the receiver 1.
  Call local(const Call& call) const;

  // A valid call, finished when this returns, on this thread.
  Status run(const Call& call);
  Status complete(Operation& operation);

  // For all ranks. The first reason stays.
  void end(Code code, std::string_view why) noexcept;
  // For those of this host; true: this was the first reason here.
  bool end_here(Code code, std::string_view why) noexcept;
  // Beyond this host; nullptr: all ranks are here.
  Outside* outside() const { return outside_.get(); }
  bool is_on_several_hosts() const { return !hosts_.empty(); }
  Rank host_of(Rank rank) const { return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(rank)]; }
  const NetworkRates& network() const { return network_; }
  // Before the first call, the same on every rank.
  void set_network(const NetworkRates& network);
  WireCompression compression() const { return compression_; }
  std::optional<std::chrono::nanoseconds> late_warning() const { return late_warning_; }
  std::uint32_t call_number() const { return collective_->channel.call(); }
  // The flight recorder learns why, once.
  void record_end() const noexcept;
  bool has_ended() const { return own_bell().ended.load(std::memory_order_acquire) == kEnded; }
  Status why_ended() const;
  // How often a call looks before it lets others have the core.
  int polls() const { return polls_; }
  bool is_crowded() const { return is_crowded_; }
  // Whether a rank has destroyed its side.
  bool has_left(Rank rank) const { return collective_->channel.mine().left(rank).load(std::memory_order_acquire) != 0; }
  void note_left(Rank rank) const { collective_->channel.mine().left(rank).store(1, std::memory_order_release); }
  const transport::Block& own_block() const { return collective_->channel.mine(); }
  transport::Bell& own_bell() const { return collective_->channel.mine().bell(); }

  MemoryUse memory() const;
  std::string explain(const Call& call) const;
  double estimate_s(const Call& call) const;  // of a valid call
  std::string last_plan() const;

 private:
  static constexpr std::uint32_t kEnding = 1;
  static constexpr std::uint32_t kEnded = 2;
  static constexpr int kPatienceWithWriter = 10000;

  transport::Bell& bell_of(Rank rank) const;
  bool is_host_one_process() const;
  bool is_here(Rank rank) const { return !peers_[static_cast<std::size_t>(rank)].is_remote; }
  transport::Block blank_block(Rank members) const;
  Status open_links(transport::Channel& channel, std::span<const Rank> members, transport::Port port) const;
  bool tell(Rank rank, Code code, const char* reason) const noexcept;
  std::unique_ptr<Track> make_pair_track(Rank from, Rank to, bool is_sender) const;
  struct Allowance {
    std::size_t outbox_bytes = 0;
    std::size_t private_bytes_max = 0;
  };
  DecisionContext context(std::span<const Rank> ranks, Rank self, const Allowance& allowance) const;

  Rank rank_;
  CommunicatorOptions options_;
  SideLayout layout_;
  std::vector<transport::Member> peers_;
  std::vector<std::byte*> memories_;
  planner::LocalMachine machine_;
  std::vector<Rank> hosts_;
  NetworkRates network_;
  WireCompression compression_;
  std::optional<std::chrono::nanoseconds> late_warning_;
  std::shared_ptr<std::byte> own_;
  std::size_t own_bytes_;
  // Stands for the blocks of ranks on other hosts until there is a link to them.
  mutable std::vector<std::uint64_t> blank_;
  bool is_one_process_;
  int polls_;
  bool is_crowded_;  // many ranks share a core of this host
  std::unique_ptr<Outside> outside_;
  std::unique_ptr<watch::Recorder> recorder_;
  std::unique_ptr<Track> collective_;
  // A mutex because two threads may send their first messages at the same time; not taken afterwards by collectives.
  mutable std::mutex pairs_mutex_;
  std::vector<std::unique_ptr<Track>> to_;
  std::vector<std::unique_ptr<Track>> from_;
};

}  // namespace tutti::comm
