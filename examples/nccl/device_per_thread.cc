// One process with a thread for each device: the threads share an identifier, and each makes its own communicator and
// calls by itself, without groups.
//
//   example_nccl_device_per_thread [DEVICES]    all devices unless told
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "part.h"

bool play(int rank, int ranks, const ncclUniqueId& id) {
  Part part(rank, rank);  // leaves its device set for this thread, as ncclCommInitRank wants it
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, ranks, id, rank));
  part.add_up(comm);
  const std::string who = "thread " + std::to_string(rank) + ":";
  const bool is_right = part.is_right(who.c_str(), ranks);
  check(ncclCommDestroy(comm));
  return is_right;
}

int main(int argument_count, char** arguments) {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  count = number_of(argument_count, arguments, count);

  ncclUniqueId id;
  check(ncclGetUniqueId(&id));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      if (!play(rank, count, id)) ++wrong;
    });
  }
  for (auto& thread : threads) thread.join();
  std::puts(wrong == 0 ? "all sums are right" : "there are wrong sums");
  return wrong == 0 ? 0 : 1;
}
