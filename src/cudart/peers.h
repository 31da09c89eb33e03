// Which devices were told to reach which: all memory is one here, but programs are told of wrong use.
#pragma once

#include <mutex>
#include <set>
#include <utility>

namespace tutti::cudart {

// A mutex because every thread has a current device of its own.
class Peers {
 public:
  static Peers& of_process();
  bool enable(int device, int peer);   // false: it was
  bool disable(int device, int peer);  // false: it was not
  void forget(int device);

 private:
  std::mutex mutex_;
  std::set<std::pair<int, int>> enabled_;  // who, whom
};

}  // namespace tutti::cudart
