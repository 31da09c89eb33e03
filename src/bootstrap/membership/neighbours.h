// Whom a rank watches: a few others at distances that double, so that news reach everybody in a logarithm of hops.
#pragma once

#include <functional>
#include <set>

#include "tutti/types.h"

namespace tutti::bootstrap {

// Ranks at the distances 1, 2, 4, ... both ways around; where one is gone, the next beyond it that is not.
std::set<Rank> neighbours_of(Rank rank, Rank size, const std::function<bool(Rank)>& is_gone);

}  // namespace tutti::bootstrap
