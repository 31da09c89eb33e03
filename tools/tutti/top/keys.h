// What somebody typed, out of the bytes that a terminal sends for it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tool::top {

enum class Key : std::uint8_t {
  quit,
  by_rank,
  by_cpu,
  by_memory,
  by_waiting,
  up,
  down,
  page_up,
  page_down,
  first,
  last
};

// Takes the keys from the front of what came. The beginning of a longer sequence stays for the next time; what means
// nothing is dropped.
std::vector<Key> take_keys(std::string& typed);

}  // namespace tutti::tool::top
