// What the processes of a test see of each other beside what the library shows them: counters in memory that all map.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "os/clock.h"

namespace tutti::conformance {

// Made before the processes are.
class Board {
 public:
  Board() {
    void* memory = ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    counters_ = new (memory) Counters{};
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() { ::munmap(counters_, sizeof(Counters)); }

  std::atomic<std::uint32_t>& started() const { return counters_->started; }
  std::atomic<std::uint32_t>& released() const { return counters_->released; }

  // False when it takes longer than any test may.
  static bool wait_for(const std::atomic<std::uint32_t>& counter, std::uint32_t value) {
    const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(30));
    while (counter.load() < value) {
      if (deadline.has_passed(os::now())) return false;
      ::usleep(200);
    }
    return true;
  }

 private:
  struct Counters {
    std::atomic<std::uint32_t> started;
    std::atomic<std::uint32_t> released;
  };
  Counters* counters_;
};

}  // namespace tutti::conformance
