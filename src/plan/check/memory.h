// The buffers of all ranks as the checker sees them: per chunk its symbolic value, and who touched it last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/check/clocks.h"
#include "plan/check/sums.h"
#include "tutti/plan.h"

namespace tutti::plan {

// A step of a lane of the plan.
struct Access {
  std::uint32_t global_lane;
  std::uint32_t step;
};

class Memory {
 public:
  Memory(const Plan& plan, bool in_place, std::size_t lanes, Sums& sums);

  struct Cell {
    SumId value = kNothing;
    bool is_stored_to = false;
    std::optional<Access> write;
    std::vector<Access> reads;  // since the write, the last one of each lane
  };
  // Of in, out or stage. In place in and out are one.
  Cell& cell(Rank owner, Buffer buffer, std::uint32_t chunk) {
    const std::size_t area = buffer == Buffer::stage ? stage_area_ : buffer == Buffer::out ? out_area_ : 0;
    return cells_[(static_cast<std::size_t>(owner) * area_count_ + area) * chunks_ + chunk];
  }
  // Scratch is private to its lane: only the value matters.
  SumId& scratch(std::uint32_t global_lane, std::uint32_t chunk);

  // The access that nothing orders before this one, if any. `clocks` is null when nothing can race.
  static std::optional<Access> read(Cell& cell, Access now, const Clocks* clocks);
  static std::optional<Access> write(Cell& cell, Access now, const Clocks* clocks);

 private:
  std::size_t out_area_;
  std::size_t stage_area_;
  std::size_t area_count_;
  std::size_t chunks_;
  std::vector<Cell> cells_;
  std::vector<std::vector<SumId>> scratch_;
};

}  // namespace tutti::plan
