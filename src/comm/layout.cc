#include "comm/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::comm {

namespace {

// For 8 ranks a side has 2 MiB for collectives and 1 MiB for messages between two.
constexpr std::size_t kOutboxBytes = 2 << 20;
constexpr std::size_t kPairOutboxesBytes = 1 << 20;
constexpr std::size_t kPairOutboxBytesMax = 256 << 10;
constexpr std::size_t kPairOutboxBytesMin = 8 << 10;

// Under a limit. Some plan of every collective fits an outbox like this, if slowly: tests try them all.
constexpr std::size_t kLeastOutboxBytes = 16 << 10;
constexpr std::size_t kLeastOutboxBytesPerRank = 1 << 10;
constexpr std::size_t kLeastPairOutboxBytes = 1 << 10;
// Plans, scratch space and counters beside the blocks. Every rank of a communicator adds steps to plans.
constexpr std::size_t kLeastPrivateBytes = 256 << 10;
constexpr std::size_t kLeastPrivateBytesPerRank = 16 << 10;
constexpr std::size_t kPairPrivateBytes = 8 << 10;
// Of which the side itself takes some.
constexpr std::size_t kSideBytes = 8 << 10;
constexpr std::size_t kSideBytesPerRank = 1 << 10;
// Scratch space is some tiles for every rank in every lane, and other things need room too.
constexpr std::size_t kTilesPerRank = 16;

constexpr std::size_t kTileBytesMax = 256 << 10;

std::size_t round_down(std::size_t bytes) { return bytes / transport::kLine * transport::kLine; }

std::size_t least_outbox_bytes(Rank ranks) {
  return ranks == 1 ? 0 : kLeastOutboxBytes + static_cast<std::size_t>(ranks) * kLeastOutboxBytesPerRank;
}

std::size_t pairs_private_bytes(Rank ranks) { return 2 * static_cast<std::size_t>(ranks) * kPairPrivateBytes; }
std::size_t side_bytes(Rank ranks) { return kSideBytes + static_cast<std::size_t>(ranks) * kSideBytesPerRank; }

std::size_t least_private_bytes(Rank ranks) {
  return kLeastPrivateBytes + static_cast<std::size_t>(ranks) * kLeastPrivateBytesPerRank + pairs_private_bytes(ranks) +
         side_bytes(ranks);
}

SideLayout least_layout(Rank ranks) {
  SideLayout layout(ranks);
  layout.collective.outbox_bytes = least_outbox_bytes(ranks);
  if (ranks > 1) layout.pair.outbox_bytes = kLeastPairOutboxBytes;
  return layout;
}

// Collectives get two thirds of what is left for outboxes.
void shrink(SideLayout& layout, std::size_t shared_bytes_max) {
  if (layout.bytes() <= shared_bytes_max || layout.ranks == 1) return;
  const SideLayout least = least_layout(layout.ranks);
  const std::size_t spare = shared_bytes_max - least.bytes();
  const std::size_t blocks = 2 * static_cast<std::size_t>(layout.ranks);
  layout.pair.outbox_bytes =
      std::min(layout.pair.outbox_bytes, round_down(least.pair.outbox_bytes + spare / 3 / blocks));
  const std::size_t pairs = blocks * (layout.pair.outbox_bytes - least.pair.outbox_bytes);
  layout.collective.outbox_bytes =
      std::min(layout.collective.outbox_bytes, round_down(least.collective.outbox_bytes + spare - pairs));
}

std::size_t standard_room_bytes(Rank ranks) {
  std::size_t most = 0;
  for (Rank part = 1; part <= ranks; ++part) most = std::max(most, SideLayout(part).bytes());
  return most;
}

}  // namespace

SideLayout::SideLayout(Rank count) : ranks(count) {
  if (count == 1) {
    collective = {.members = 1};
    pair = {.members = 2};
    return;
  }
  const std::size_t share = kPairOutboxesBytes / (2 * static_cast<std::size_t>(count));
  const std::size_t rounded = share / 4096 * 4096;
  collective = {.members = count, .outbox_bytes = kOutboxBytes, .has_flash = true};
  pair = {.members = 2, .outbox_bytes = std::clamp(rounded, kPairOutboxBytesMin, kPairOutboxBytesMax)};
}

std::size_t SideLayout::least_limit_bytes(Rank ranks) {
  return least_layout(ranks).bytes() + least_private_bytes(ranks);
}

Result<SideLayout> SideLayout::within(std::size_t limit_bytes, Rank ranks, Rank room_ranks) {
  SideLayout layout(ranks);
  if (limit_bytes == 0) return layout;
  const std::size_t least = least_limit_bytes(room_ranks);
  if (limit_bytes < least) {
    return Status(
        Code::out_of_memory,
        fmt::format("the memory limit of {} bytes (TUTTI_MEMORY_LIMIT, or what the program says) is too small "
                    "for a communicator of {} ranks; raise it to {} or more",
                    limit_bytes, room_ranks, least));
  }
  const std::size_t shared = std::min(limit_bytes - least_private_bytes(room_ranks), standard_room_bytes(room_ranks));
  shrink(layout, shared);
  layout.pair_private_bytes_max = kPairPrivateBytes;
  layout.collective_private_bytes_max = limit_bytes - shared - pairs_private_bytes(ranks) - side_bytes(ranks);
  const std::size_t tile =
      round_down(layout.collective_private_bytes_max / kTilesPerRank / static_cast<std::size_t>(ranks));
  layout.tile_bytes_max = std::clamp(tile, transport::kLine, kTileBytesMax);
  return layout;
}

Result<std::size_t> SideLayout::room_bytes(std::size_t limit_bytes, Rank ranks) {
  std::size_t most = 0;
  for (Rank part = 1; part <= ranks; ++part) {
    TUTTI_ASSIGN(const SideLayout layout, within(limit_bytes, part, ranks));
    most = std::max(most, layout.bytes());
  }
  return most;
}

}  // namespace tutti::comm
