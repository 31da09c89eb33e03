#include "comm/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/assert.h"
#include "comm/burial.h"
#include "comm/notes.h"
#include "comm/surroundings.h"
#include "os/clock.h"

namespace tutti::comm {

using plan::Collective;
using transport::Bell;
using transport::Block;
using transport::Channel;

namespace {

constexpr std::size_t kCustomElementBytesMax = engine::Workspace::kBounceBytes;

// How often to look before giving the core to somebody else. Looking costs some 10 ns; where ranks share cores, whoever
// is waited for needs this one at once. Looking at a network costs as much as giving the core away.
constexpr int kPolls = 500;
constexpr int kPollsInCrowd = 1;
constexpr int kRanksPerCoreMax = 4;  // that take turns without much loss

}  // namespace

Side::Side(Membership membership, const CommunicatorOptions& options, const MakeOutside& make_outside)
    : rank_(membership.rank),
      options_(options),
      layout_(membership.layout),
      peers_(std::move(membership.peers)),
      memories_(std::move(membership.memories)),
      machine_(membership.machine),
      hosts_(std::move(membership.hosts)),
      network_(membership.network),
      compression_(membership.compression),
      late_warning_(membership.late_warning),
      own_(std::move(membership.own)),
      own_bytes_(membership.own_bytes),
      blank_(transport::BlockShape{.members = size()}.bytes() / sizeof(std::uint64_t) + transport::kLine),
      is_one_process_(std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer.is_same_process; })),
      polls_(machine_.ranks <= machine_.cores && hosts_.empty() ? kPolls : kPollsInCrowd),
      is_crowded_(std::count_if(peers_.begin(), peers_.end(), [](const auto& peer) { return !peer.is_remote; }) >
                  kRanksPerCoreMax * machine_.cores),
      recorder_(watch::Recorder::create({.rank = rank_, .peers = peers_, .store = options_.store})) {
  TUTTI_ASSERT(layout_.ranks == size(), "a layout is of as many ranks as there are");
  std::vector<Block> blocks;
  std::vector<Rank> all;
  for (Rank rank = 0; rank < size(); ++rank) {
    std::byte* const memory = memories_[static_cast<std::size_t>(rank)];
    blocks.push_back(memory != nullptr ? Block(layout_.collective, memory) : blank_block(size()));
    all.push_back(rank);
  }
  const Allowance allowance{layout_.collective.outbox_bytes, layout_.collective_private_bytes_max};
  collective_ = std::make_unique<Track>(Channel(layout_.collective, peers_, std::move(blocks), rank_),
                                        context(all, rank_, allowance));
  collective_->log.recorder = recorder_.get();
  to_.resize(peers_.size());
  from_.resize(peers_.size());
  if (!make_outside) return;
  outside_ = make_outside(*this, {.rank = rank_,
                                  .size = size(),
                                  .collective_bytes = layout_.collective.outbox_bytes,
                                  .pair_bytes = layout_.pair.outbox_bytes,
                                  .bell = &own_bell()});
  collective_->open_links = [this](std::span<const Rank> members) {
    return open_links(collective_->channel, members, transport::Port::collective);
  };
}

Side::~Side() {
  withdraw_offers(*this);
  if (outside_ != nullptr) {
    // Why it has ended, too: this process may be gone before those who have noticed have told everybody.
    const Status why = why_ended();
    if (why) {
      outside_->spread_leaving();
    } else {
      outside_->spread_end(why.code(), why.text());
    }
    outside_.reset();  // nothing is told to this side any more
  }
  record_end();
  const Channel& channel = collective_->channel;
  Remains remains;
  for (Rank rank = 0; rank < size(); ++rank) {
    if (rank == rank_ || !is_here(rank)) continue;
    // The last touch of that block, which its owner may free next. So nobody is rung: sleepers look now and then.
    channel.block(rank).left(rank_).store(1, std::memory_order_release);
    remains.left.push_back(&channel.mine().left(rank));
    remains.peers.push_back(peers_[static_cast<std::size_t>(rank)]);
  }
  // Slower ranks may still read what this one staged: its memory is freed when all have left.
  remains.memory = std::move(own_);
  bury(std::move(remains));
}

Bell& Side::bell_of(Rank rank) const { return collective_->channel.block(rank).bell(); }

// All zero, and nobody writes to it: a rank of which nothing has been heard.
Block Side::blank_block(Rank members) const {
  void* memory = blank_.data();
  std::size_t room = blank_.size() * sizeof(blank_[0]);
  const transport::BlockShape shape{.members = members};
  return {shape, static_cast<std::byte*>(std::align(transport::kLine, shape.bytes(), memory, room))};
}

Status Side::open_links(Channel& channel, std::span<const Rank> members, transport::Port port) const {
  const Deadline deadline = Deadline::after(os::now(), options_.timeout);
  for (const Rank member : members) {
    if (!channel.is_remote(member) || channel.is_linked(member)) continue;
    TUTTI_ASSIGN(Link* const link, outside_->links().open(channel.peer(member).rank, deadline));
    channel.link(member, *link->remotes[static_cast<std::size_t>(port)], *link->wire, port);
  }
  return {};
}

void Side::set_network(const NetworkRates& network) {
  network_ = network;
  collective_->context.network = network;
}

bool Side::is_host_one_process() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& peer) { return peer.is_remote || peer.is_same_process; });
}

DecisionContext Side::context(std::span<const Rank> ranks, Rank self, const Allowance& allowance) const {
  DecisionContext context{.machine = machine_,
                          .self = self,
                          .is_one_process = is_one_process_,
                          .is_host_one_process = is_host_one_process(),
                          .allowed_by = options_.allowed_by,
                          .launch = {.outbox_bytes = allowance.outbox_bytes},
                          .private_bytes_max = allowance.private_bytes_max,
                          .memory_limit_bytes = options_.memory_limit};
  if (layout_.tile_bytes_max != 0) context.launch.tile_bytes_max = layout_.tile_bytes_max;
  if (ranks.size() == peers_.size()) {
    context.algorithm = options_.algorithm;
    context.allowed = options_.allowed;
  }
  context.machine.ranks = static_cast<Rank>(ranks.size());
  context.machine.outbox_bytes = allowance.outbox_bytes;
  context.network = network_;
  context.compression = compression_;
  for (const Rank rank : ranks) {
    if (!hosts_.empty()) context.hosts.push_back(hosts_[static_cast<std::size_t>(rank)]);
  }
  const auto& hosts = context.hosts;
  if (std::equal(hosts.begin() + (hosts.empty() ? 0 : 1), hosts.end(), hosts.begin())) context.hosts.clear();
  return context;
}

std::unique_ptr<Track> Side::make_pair_track(Rank from, Rank to, bool is_sender) const {
  std::vector<transport::Member> peers = {peers_[static_cast<std::size_t>(from)], peers_[static_cast<std::size_t>(to)]};
  const auto block = [&](Rank owner, Rank other, bool sends) {
    if (!is_here(owner)) return blank_block(2);
    std::byte* memory = memories_[static_cast<std::size_t>(owner)] + layout_.pair_at(other, sends);
    return Block(layout_.pair, memory, &bell_of(owner));
  };
  std::vector<Block> blocks = {block(from, to, true), block(to, from, false)};
  const Rank ends[] = {from, to};
  DecisionContext decides =
      context(ends, is_sender ? 0 : 1, {layout_.pair.outbox_bytes, layout_.pair_private_bytes_max});
  decides.algorithm.clear();
  decides.allowed.clear();
  decides.machine.flash_bytes = 0;
  decides.is_one_process = peers[0].is_same_process && peers[1].is_same_process;
  return std::make_unique<Track>(Channel(layout_.pair, std::move(peers), std::move(blocks), is_sender ? 0 : 1),
                                 std::move(decides));
}

Track& Side::track_of(const Call& call) {
  if (call.collective != Collective::send_receive) return *collective_;
  // An empty message has no buffers to tell its ends by; one to oneself has: see is_nothing().
  const bool is_sender = call.root == rank_ && (call.peer != rank_ || call.in != nullptr);
  const Rank other = is_sender ? call.peer : call.root;
  const std::lock_guard lock(pairs_mutex_);
  auto& track = (is_sender ? to_ : from_)[static_cast<std::size_t>(other)];
  if (track == nullptr) {
    track = make_pair_track(call.root, call.peer, is_sender);
    if (!is_here(other)) {
      track->open_links = [this, made = track.get(), from = call.root, to = call.peer](std::span<const Rank> members) {
        return open_links(made->channel, members, Links::message_port(from, to));
      };
    }
    track->log = {.recorder = recorder_.get(), .track = watch::TrackLog::track_of(other, is_sender)};
  }
  return *track;
}

Call Side::local(const Call& call) const {
  Call local = call;
  if (call.collective == Collective::send_receive) {
    local.root = 0;
    local.peer = 1;
  }
  return local;
}

namespace {

Status validate_buffers(const Call& call, Rank rank, Rank size) {
  TUTTI_TRY(validate_counts(call, size));
  const BufferSizes sizes = buffer_sizes(call, rank, size);
  // Of a message to oneself one call sends and another receives.
  const bool is_to_itself = call.collective == Collective::send_receive && call.root == call.peer;
  const bool lacks_in = call.in == nullptr && sizes.in_elements > 0;
  const bool lacks_out = call.out == nullptr && sizes.out_elements > 0;
  if (is_to_itself || (!lacks_in && !lacks_out)) [[likely]]
    return {};
  return invalid_argument(fmt::format("{} on rank {} has no {}put buffer, which must have {} elements", describe(call),
                                      rank, lacks_in ? "in" : "out",
                                      lacks_in ? sizes.in_elements : sizes.out_elements));
}

Status validate_custom(const CustomOperation& custom) {
  if (custom.combine == nullptr || custom.element_bytes == 0 || custom.element_bytes > kCustomElementBytesMax) {
    return invalid_argument(fmt::format(
        "the custom operation '{}' has elements of {} bytes{}; it needs a function and elements of 1 to {} bytes",
        custom.name, custom.element_bytes, custom.combine == nullptr ? " and no function" : "",
        kCustomElementBytesMax));
  }
  return {};
}

}  // namespace

Status Side::validate(const Call& call) const {
  if (static_cast<std::size_t>(call.collective) >= plan::kCollectives.size()) {
    return invalid_argument(fmt::format("{} is no collective", static_cast<int>(call.collective)));
  }
  if (static_cast<std::size_t>(call.type) >= kDataTypes.size()) {
    return invalid_argument(fmt::format("{} is no element type", static_cast<int>(call.type)));
  }
  if (static_cast<std::size_t>(call.reduction.op) >= kOps.size()) {
    return invalid_argument(fmt::format("{} is no operation", static_cast<int>(call.reduction.op)));
  }
  const auto check_rank = [&](Rank rank, std::string_view role) -> Status {
    if (rank >= 0 && rank < size()) return {};
    return invalid_argument(fmt::format("{} {} is not one of {} ranks", role, rank, size()));
  };
  const bool is_message = call.collective == Collective::send_receive;
  if (plan::has_root(call.collective)) TUTTI_TRY(check_rank(call.root, "root"));
  if (is_message) {
    TUTTI_TRY(check_rank(call.root, "sender"));
    TUTTI_TRY(check_rank(call.peer, "receiver"));
    if (call.root != rank_ && call.peer != rank_) {
      return invalid_argument(
          fmt::format("rank {} takes no part in a message from rank {} to rank {}", rank_, call.root, call.peer));
    }
  }
  if (plan::reduces(call.collective) && call.reduction.custom != nullptr) {
    TUTTI_TRY(validate_custom(*call.reduction.custom));
  }
  return validate_buffers(call, rank_, size());
}

MemoryUse Side::memory() const {
  MemoryUse use{.shared_bytes = own_bytes_, .private_bytes = sizeof(Side)};
  use.private_bytes += peers_.capacity() * sizeof(transport::Member) + blank_.capacity() * sizeof(blank_[0]) +
                       memories_.capacity() * sizeof(memories_[0]) + hosts_.capacity() * sizeof(Rank) +
                       (to_.capacity() + from_.capacity()) * sizeof(to_[0]);
  const std::lock_guard lock(pairs_mutex_);
  const auto add = [&](const std::unique_ptr<Track>& track) {
    if (track != nullptr) use.private_bytes += track->bytes();
  };
  add(collective_);
  for (const auto& track : to_) add(track);
  for (const auto& track : from_) add(track);
  if (outside_ != nullptr) use.private_bytes += outside_->links().bytes();
  return use;
}

std::string Side::explain(const Call& call) const {
  const std::string surroundings = describe_surroundings(*this);
  const std::string end = surroundings.empty() ? "" : "\n" + surroundings;
  if (call.collective != Collective::send_receive) return comm::explain(collective_->context, call) + end;
  const bool is_sender = call.root == rank_;
  const auto track = make_pair_track(call.root, call.peer, is_sender);
  return comm::explain(track->context, local(call)) + end;
}

double Side::estimate_s(const Call& call) const {
  if (call.collective != Collective::send_receive) return comm::estimate_s(collective_->context, call);
  if (call.root == call.peer) return 0;
  return comm::estimate_s(make_pair_track(call.root, call.peer, call.root == rank_)->context, local(call));
}

std::string Side::last_plan() const {
  const engine::Launch* last = collective_->last;
  if (last == nullptr) return "";
  return last->prepared->header.algorithm;
}

}  // namespace tutti::comm
