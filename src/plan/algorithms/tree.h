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

void broadcast(Lane& lane, const View& v);
void reduce(Lane& lane, const View& v);
void barrier(Lane& lane, const View& v);

}  // namespace tutti::plan::tree
