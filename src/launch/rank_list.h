// Lists of ranks as people read them: compressed, and never longer than a line. Pure.
#pragma once

#include <span>
#include <string>

#include "tutti/types.h"

namespace tutti::launch {

// "rank 3", "ranks 0-2 and 4-7", "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 120 more"; empty for none.
std::string ranks_text(std::span<const Rank> sorted);

}  // namespace tutti::launch
