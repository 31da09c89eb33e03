#include "bootstrap/membership/neighbours.h"

namespace tutti::bootstrap {

std::set<Rank> neighbours_of(Rank rank, Rank size, const std::function<bool(Rank)>& is_gone) {
  std::set<Rank> neighbours;
  for (Rank distance = 1; distance <= size / 2; distance *= 2)
    for (const Rank way : {1, -1})
      for (Rank far = distance; far < size; ++far) {
        const Rank other = ((rank + way * far) % size + size) % size;
        if (other == rank || is_gone(other)) continue;
        neighbours.insert(other);
        break;
      }
  return neighbours;
}

}  // namespace tutti::bootstrap
