#include "os/memory_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tutti::os {

void await_barrier_everywhere() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // Some kernels have no such call. No core keeps what it has written to itself for so long.
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace tutti::os
