// Many names of hosts in few characters. Pure.
#pragma once

#include <span>
#include <string>

namespace tutti::tool::check {

// "gpu[1-3,7], login": names that differ only in their last number are put together, as Slurm writes them. Numbers keep
// their leading zeros. In the order of the first of each kind.
std::string names_text(std::span<const std::string> names);

}  // namespace tutti::tool::check
