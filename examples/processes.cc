// Ranks that are processes: started by hand as `example_processes RANK SIZE STORE`, or four of them by itself.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/communicator.h"

int run_rank(int rank, int size, const std::string& store) {
  auto communicator = tutti::Communicator::create({.rank = rank, .size = size, .store = store});
  if (!communicator) {
    std::fprintf(stderr, "rank %d: %s\n", rank, std::string(communicator.status().text()).c_str());
    return 1;
  }
  std::vector<double> data(1000, rank + 1);
  if (const auto status = communicator->all_reduce(std::span(data)); !status) {
    std::fprintf(stderr, "rank %d: %s\n", rank, std::string(status.text()).c_str());
    return 1;
  }
  if (rank == 0) std::printf("rank 0 of %d has %g\n", size, data[999]);
  return 0;
}

int main(int argument_count, char** arguments) {
  if (argument_count == 4) return run_rank(std::atoi(arguments[1]), std::atoi(arguments[2]), arguments[3]);

  char folder[] = "/tmp/tutti-example-XXXXXX";  // where only this user can look
  if (mkdtemp(folder) == nullptr) return 1;
  for (int rank = 0; rank < 4; ++rank) {
    if (fork() == 0) return run_rank(rank, 4, std::string("file:") + folder + "/store");
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed += status != 0 ? 1 : 0;
  std::filesystem::remove_all(folder);
  return failed;
}
