// Memory of ranks that have left a communicator: freed when nobody can be reading it any more.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/channel.h"

namespace tutti::comm {

struct Remains {
  std::shared_ptr<std::byte> memory;
  std::vector<const transport::Counter*> left;  // in that memory: set by each of the others when it leaves
  std::vector<transport::Member> peers;         // in the same order; one that died leaves too
};

// Frees what can be freed of all that was buried, this too. What is left when the process ends goes with it.
void bury(Remains remains);
// How many wait; for tests.
std::size_t buried_count();

}  // namespace tutti::comm
