// Lists of names as people write them: "gpu[0-3,8],cpu" stands for gpu0, gpu1, gpu2, gpu3, gpu8 and cpu.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::topology {

// The parts between the commas that stand outside brackets.
std::vector<std::string_view> list_items(std::string_view list);

// The names of a list, in its order. Leading zeros of a range are kept: node[08-10] is node08, node09, node10. More
// than `limit` names, and names of other characters than letters, digits, '_' and '-', are errors.
Result<std::vector<std::string>> expand(std::string_view list, std::size_t limit);

// The reverse, as short as ranges make it; one item per prefix.
std::vector<std::string> fold_items(std::span<const std::string> names);
std::string fold(std::span<const std::string> names);

// The name without its number: "gpu" of "gpu12".
std::string_view prefix_of(std::string_view name);

// For error messages: in quotes, clipped, without control characters.
std::string in_quotes(std::string_view text);

}  // namespace tutti::topology
