// Double binary tree: sums go up, results come down, in a logarithmic number of hops. Every second lane uses a tree in
// which inner nodes and leaves have changed places, so that two lanes keep every link busy both ways.
#pragma once

#include "plan/algorithms/setting.h"

namespace tutti::plan::tree {

// Up and down are lanes of their own: the next tile goes up while the last one comes down.
struct Lanes {
  Lane& up;
  Lane& down;
  std::uint32_t up_index;
};
void all_reduce(Lanes lanes, const View& v);

// Gives the program such a pair for each lane of the shape and calls `each(lane, Lanes)`.
template <class Each>
void for_lane_pairs(std::uint32_t lane_count, Program& program, Each each) {
  program.lanes.resize(std::size_t{2} * lane_count);
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
    const std::size_t up = std::size_t{2} * lane;
    each(lane, Lanes{program.lanes[up], program.lanes[up + 1], static_cast<std::uint32_t>(up)});
  }
}

void broadcast(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);
void barrier(Lane& lane, const View& v);

}  // namespace tutti::plan::tree
