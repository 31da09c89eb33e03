#include "plan/algorithms/neighbourhood.h"

#include <algorithm>

namespace tutti::plan {

bool Neighbourhood::is_me_in(std::span<const Rank> ranks) const {
  return std::find(ranks.begin(), ranks.end(), me()) != ranks.end();
}

View Neighbourhood::rail_view() const {
  View view = plan::rail_view(setting_, place_, lane_, blocks_);
  view.through_stages = is_staged();
  return view;
}

// Where many tell many, a meeting of all takes fewer tokens.
void Neighbourhood::tell(Lane& lane, std::span<const Rank> from, std::span<const Rank> to) const {
  if (std::min(from.size(), to.size()) > static_cast<std::size_t>(kMeetAllPairsMax)) return place_.meet(lane);
  if (is_me_in(from)) {
    if (const auto rest = others(to, me()); !rest.empty()) lane.step().signal(rest);
  }
  if (is_me_in(to)) {
    if (const auto rest = others(from, me()); !rest.empty()) lane.step().wait(rest);
  }
}

void Neighbourhood::publish(Lane& lane, Rank block, Rank count) const {
  lane.step().load(flat_.own(Buffer::in, block, count)).store(flat_.own(Buffer::stage, block, count));
}

void Neighbourhood::fetch(Lane& lane, Rank owner, Rank block, Rank count) const {
  lane.step().load(flat_.slice(Buffer::stage, owner, block, count)).store(flat_.own(Buffer::out, block, count));
}

void Neighbourhood::copy_own(Lane& lane, Rank block) const {
  lane.step().load(flat_.own(Buffer::in, block)).store(flat_.own(Buffer::out, block));
}

}  // namespace tutti::plan
