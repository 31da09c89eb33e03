#include "plan/check/memory.h"

#include "plan/check/promise.h"

namespace tutti::plan {

namespace {

bool is_before(const Access& earlier, const Access& now, const Clocks& clocks) {
  return earlier.global_lane == now.global_lane || clocks.known(now.global_lane, earlier.global_lane) > earlier.step;
}

}  // namespace

Memory::Memory(const Plan& plan, bool in_place, std::size_t lanes, Sums& sums)
    : out_area_(in_place ? 0 : 1),
      stage_area_(out_area_ + 1),
      area_count_(stage_area_ + (uses_stage(plan) ? 1 : 0)),
      chunks_(plan.chunks),
      scratch_(lanes) {
  cells_.resize(static_cast<std::size_t>(plan.ranks) * area_count_ * chunks_);
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      if (has_chunk(plan, rank, Buffer::in, chunk))
        cell(rank, Buffer::in, chunk).value = sums.contribution(rank, chunk);
    }
  }
}

SumId& Memory::scratch(std::uint32_t global_lane, std::uint32_t chunk) {
  auto& lane = scratch_[global_lane];
  if (chunk >= lane.size()) lane.resize(chunk + 1, kNothing);
  return lane[chunk];
}

std::optional<Access> Memory::read(Cell& cell, Access now, const Clocks* clocks) {
  if (clocks == nullptr) return std::nullopt;
  if (cell.write && !is_before(*cell.write, now, *clocks)) return cell.write;
  for (Access& read : cell.reads) {
    if (read.global_lane == now.global_lane) {
      read.step = now.step;
      return std::nullopt;
    }
  }
  cell.reads.push_back(now);
  return std::nullopt;
}

std::optional<Access> Memory::write(Cell& cell, Access now, const Clocks* clocks) {
  if (clocks == nullptr) return std::nullopt;
  if (cell.write && !is_before(*cell.write, now, *clocks)) return cell.write;
  for (const Access& read : cell.reads) {
    if (!is_before(read, now, *clocks)) return read;
  }
  cell.write = now;
  cell.reads.clear();
  return std::nullopt;
}

}  // namespace tutti::plan
