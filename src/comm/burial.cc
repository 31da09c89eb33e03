#include "comm/burial.h"

#include <algorithm>
#include <mutex>

namespace tutti::comm {

namespace {

// A mutex because communicators are destroyed by any thread, and rarely.
struct Yard {
  std::mutex mutex;
  std::vector<Remains> remains;
};

Yard& yard() {
  static Yard* yard = new Yard;  // never destroyed: communicators may be, after main
  return *yard;
}

bool have_all_left(const Remains& remains) {
  for (std::size_t i = 0; i < remains.left.size(); ++i) {
    const bool has_left = remains.left[i]->load(std::memory_order_acquire) != 0;
    if (!has_left && remains.peers[i].is_alive()) return false;
  }
  return true;
}

}  // namespace

void bury(Remains remains) {
  std::vector<Remains> freed;  // outside the lock
  const std::lock_guard lock(yard().mutex);
  auto& all = yard().remains;
  all.push_back(std::move(remains));
  const auto first = std::partition(all.begin(), all.end(), [](const Remains& r) { return !have_all_left(r); });
  std::move(first, all.end(), std::back_inserter(freed));
  all.erase(first, all.end());
}

std::size_t buried_count() {
  const std::lock_guard lock(yard().mutex);
  return yard().remains.size();
}

}  // namespace tutti::comm
