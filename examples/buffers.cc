// Where buffers lie: memory of the program, or memory that the other processes reach, and what difference it makes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/communicator.h"

constexpr std::size_t kCount = 1 << 20;

tutti::Status show(int rank, const std::string& store) {
  TUTTI_ASSIGN(auto communicator, tutti::Communicator::create({.rank = rank, .size = 2, .store = store}));

  std::vector<float> own(kCount, 1);  // private: others see it through what this rank stages for them
  TUTTI_TRY(communicator.all_reduce(std::span(own)));

  TUTTI_ASSIGN(const tutti::Memory memory, tutti::allocate(kCount * sizeof(float)));
  const std::span<float> shared = memory.as<float>();  // zero at first; others load from it and store to it
  for (float& value : shared) value = 1;
  TUTTI_TRY(communicator.all_reduce(shared));

  if (rank != 0) return {};
  std::printf("%g and %g\n", own[kCount - 1], shared[kCount - 1]);
  const auto use = communicator.memory();
  std::printf("%zu bytes shared, %zu bytes private\n", use.shared_bytes, use.private_bytes);
  TUTTI_ASSIGN(const auto why, communicator.explain({.count = kCount}));
  std::printf("%s\n", why.c_str());
  return {};
}

int main() {
  char folder[] = "/tmp/tutti-example-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string store = std::string("file:") + folder + "/store";
  const auto run = [&](int rank) {
    const auto status = show(rank, store);
    if (!status) std::fprintf(stderr, "rank %d: %s\n", rank, std::string(status.text()).c_str());
    return status ? 0 : 1;
  };
  const pid_t other = fork();  // before the first use of Tutti
  if (other == 0) return run(1);
  int failed = run(0);
  int ended = 0;
  waitpid(other, &ended, 0);
  std::filesystem::remove_all(folder);
  return failed + (ended != 0 ? 1 : 0);
}
