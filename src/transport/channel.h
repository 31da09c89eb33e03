// Ranks that meet in memory, one block each, and what this rank knows of the others. A member on another host has a
// mirror of its block here, which a wire keeps up to date. Calls go through a channel one after the other; whoever runs
// the current one owns the channel.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transport/block.h"
#include "transport/wire.h"
#include "tutti/types.h"

namespace tutti::transport {

// A member, as this process sees it.
struct Member {
  Rank rank = 0;  // in the communicator, for messages
  int pid = 0;
  std::string host = {};
  bool is_remote = false;  // on another host: no memory is shared with it
  bool is_same_process = false;
  bool can_pull = false;      // its memory may be read and written through the kernel
  std::byte* heap = nullptr;  // its shared heap, mapped here
  std::size_t heap_bytes = 0;
  std::function<bool()> is_alive = {};  // asked while waiting for long only
};

// What a rank says of itself when it enters a call.
struct Entry {
  std::uint32_t fingerprint = 0;  // of the call alone
  std::uint32_t facts = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  double factor = 1;
  std::uint64_t count = 0;
  std::uint64_t what = 0;
  std::uint64_t detail = 0;
};

class Channel {
 public:
  Channel(const BlockShape& shape, std::vector<Member> peers, std::vector<Block> blocks, Rank self);

  Rank self() const { return self_; }
  Rank size() const { return static_cast<Rank>(peers_.size()); }
  const BlockShape& shape() const { return shape_; }
  const Member& peer(Rank member) const { return peers_[index(member)]; }
  const Block& mine() const { return blocks_[index(self_)]; }
  const Block& block(Rank member) const { return blocks_[index(member)]; }

  // A member on another host: from now on the wire carries what is meant for it.
  void link(Rank member, Remote& remote, Wire& wire, Port port);
  bool is_linked(Rank member) const { return !links_.empty() && links_[index(member)].wire != nullptr; }
  bool is_remote(Rank member) const { return peers_[index(member)].is_remote; }
  bool has_links() const { return !links_.empty(); }
  // Moves what wires have to move.
  void progress_links();
  // Success while the wire to that member lasts. What had come before it broke is still there.
  Status link_failure(Rank member) const { return is_linked(member) ? links_[index(member)].failure : Status(); }
  // Whether nothing more can come from that member over its wire.
  bool is_cut_off(Rank member) const {
    return !is_linked(member) || !link_failure(member) || !links_[index(member)].wire->is_connected();
  }
  // Whether everything that this call sends has gone; whom it has not gone to.
  bool are_links_flushed() const { return find_unflushed() == kNoRank; }
  Rank find_unflushed() const;
  // The call is given up: nothing is read from or written to its buffers any more.
  void abandon_links() noexcept;
  // Says that this rank has entered the call, to whom no message may follow.
  void greet(Rank member) {
    if (is_linked(member)) announce(links_[index(member)], true);
  }

  // Begins the next call, for everybody to see; sleepers have to be rung.
  void enter(const Entry& entry);
  // Ends it. Tiles are counted alike on every rank, which is what staging in turns rests on.
  void leave();
  std::uint32_t call() const { return call_; }
  // Of this call and all before it: ranks that differ once differ for ever, so that a difference in a call in which
  // nobody waited for the other is found in the next.
  std::uint32_t fingerprint() const { return fingerprint_; }

  bool has_entered(Rank member) const {
    return has_reached(Tag{blocks_[index(member)].head().tag.load(std::memory_order_acquire)}.call(), call_);
  }
  // What a member that has entered this call (and may have gone on) said; nullopt: the fingerprints differ.
  std::optional<Tag> meet(Rank member);
  // A member was seen in this call some other way: it has ended those before.
  void note_call_of(Rank member) { calls_done_known_[index(member)] = call_ - 1; }
  // Whether all members are known to have ended that call, without looking.
  bool is_known_done(std::uint32_t call) const {
    bool is_known = true;
    for (Rank member = 0; member < size(); ++member) {
      is_known = is_known && (member == self_ || has_reached(calls_done_known_[index(member)], call));
    }
    return is_known;
  }
  void note_progress_of(Rank member) {
    note_call_of(member);
    for (LaneCounts& lane : lanes_) lane.tiles_done_known[index(member)] = lane.tile_at_entry;
  }
  // The first member whose call did not fit this one.
  std::optional<Rank> mismatch() const { return mismatch_; }
  // Looks at everybody who has come so far: the mismatch may be with one that this rank does not wait for.
  bool find_mismatch();

  // A byte of a buffer whose beginning, as a plan sees it, may lie before all memory: no pointer to that may be made.
  static std::byte* byte_at(std::byte* begin, std::uint64_t offset) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(begin) + offset);
  }
  // Where the buffers of a member are, here; valid once it was met. A pulled one is an address of its process.
  struct Place {
    std::byte* in = nullptr;
    std::byte* out = nullptr;
    double factor = 1;
    bool pulls_in = false;
    bool pulls_out = false;
  };
  const Place& place(Rank member) const { return places_[index(member)]; }
  // Of this rank itself.
  void set_own_place(const Place& place) { places_[index(self_)] = place; }
  bool was_met(Rank member) const { return met_[index(member)] == call_; }

  // Messages, tokens and values alike.
  void send(std::uint32_t lane, Rank to) {
    Counter& sent = blocks_[index(self_)].sent(lane, to);
    // release: pairs with the acquire in has_message
    sent.store(sent.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (is_linked(to)) [[unlikely]] {
      send_token(lane, to);
    } else {
      ring(to);
    }
  }
  bool has_message(std::uint32_t lane, Rank from, std::uint32_t count) const {
    const std::uint32_t sent = block(from).sent(lane, self_).load(std::memory_order_acquire);
    return has_reached(sent, lanes_[lane].messages_taken[index(from)] + count);
  }
  void take_message(std::uint32_t lane, Rank from) { ++lanes_[lane].messages_taken[index(from)]; }

  // Values of pipes: the how-manieth is next to go to, or come from, a member.
  std::uint32_t values_sent(std::uint32_t lane, Rank to) const { return lanes_[lane].values_sent[index(to)]; }
  std::uint32_t values_taken(std::uint32_t lane, Rank from) const { return lanes_[lane].values_taken[index(from)]; }
  void count_value_sent(std::uint32_t lane, Rank to) { ++lanes_[lane].values_sent[index(to)]; }
  // Gives the slot back.
  void count_value_taken(std::uint32_t lane, Rank from);
  bool has_free_slot(std::uint32_t lane, Rank to, std::uint32_t slots) const {
    if (is_linked(to)) return has_free_slot_on_wire(lane, to, slots);
    const std::uint32_t taken = block(to).taken(lane, self_).load(std::memory_order_acquire);
    return has_reached(taken + slots, lanes_[lane].values_sent[index(to)] + 1);
  }

  // The same over a wire: data stays where it is until the wire has sent it, which are_links_flushed() waits for.
  void send_value(std::uint32_t lane, Rank to, std::span<const ChunkBytes> sizes, std::span<const Stretch> data);
  Remote::Value received_value(std::uint32_t lane, Rank from) const {
    return links_[index(from)].remote->value(lane, values_taken(lane, from));
  }
  // The next value of that member goes straight there.
  void expect_value(std::uint32_t lane, Rank from, std::span<const Stretch> places) {
    links_[index(from)].remote->expect(lane, values_taken(lane, from), places);
  }

  // Tiles of a lane, counted over all calls: they take turns in the stage.
  std::uint32_t tile(std::uint32_t lane) const { return lanes_[lane].tile; }
  void end_tiles(std::uint32_t lane, std::uint32_t count);
  // A member that has not yet ended the tile whose place this one takes; kNoRank: all have.
  Rank find_stage_user(std::uint32_t lane, std::uint32_t tiles_in_stage);
  // A member that may still read what earlier calls left in the outbox; kNoRank: none.
  Rank find_behind(std::uint32_t calls);

  // Divides the outbox for the next call. Where the division changes, earlier readers must have gone: see find_behind.
  bool is_outbox_laid_out_as(std::uint64_t layout) const { return layout_ == layout; }
  void lay_out_outbox(std::uint64_t layout) { layout_ = layout; }

  // Wakes a member that sleeps. Cheap when it does not.
  void ring(Rank member) const {
    const Bell& bell = blocks_[index(member)].bell();
    if (bell.sleeping.load(std::memory_order_relaxed) != 0) wake(member);
  }
  void ring_all() const;
  void wake(Rank member) const;

  std::size_t bytes() const;  // beside those of this object itself and of its blocks

 private:
  struct LaneCounts {
    std::vector<std::uint32_t> messages_taken;
    std::vector<std::uint32_t> values_sent;
    std::vector<std::uint32_t> values_taken;
    std::vector<std::uint32_t> tiles_done_known;
    std::uint32_t tile = 0;
    std::uint32_t tile_at_entry = 0;
  };
  struct Link {
    Remote* remote = nullptr;
    Wire* wire = nullptr;
    Port port = Port::collective;
    Status failure;
    std::uint32_t announced = 0;  // the last call that the member was told of
    std::array<std::uint32_t, kLanesMax> taken_told = {};
  };
  void announce(Link& link, bool is_urgent);
  void send_token(std::uint32_t lane, Rank to);
  bool has_free_slot_on_wire(std::uint32_t lane, Rank to, std::uint32_t slots) const;
  void tell_taken(std::uint32_t lane, Rank from);
  void tell_taken_with_message(Link& link, Rank to);

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  void resolve(Rank member, Tag tag);

  BlockShape shape_;
  std::vector<Member> peers_;
  std::vector<Block> blocks_;
  Rank self_;
  std::uint32_t call_ = 0;
  std::uint32_t fingerprint_ = 0;
  std::uint64_t layout_ = 0;
  std::vector<LaneCounts> lanes_;
  std::vector<std::uint32_t> calls_done_known_;
  std::vector<std::uint32_t> met_;  // the call in which the member was last met
  std::vector<Place> places_;
  std::optional<Rank> mismatch_;
  std::vector<Link> links_;  // by member; empty where all share memory
};

}  // namespace tutti::transport
