// Ranks that may be on any hosts: started by hand as `example_hosts RANK SIZE FILE` on each, or four of them here by
// itself. Rank 0 writes what the others need to the file. One rank ends without a word, and the others go on.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tutti/communicator.h"

// The identifier holds the job's secret: a file of mode 0600, and never an argument, which everybody can read.
std::string make_identifier(const std::string& path) {
  const auto identifier = tutti::Identifier::create();
  if (!identifier) return "";
  umask(0077);
  std::ofstream(path + ".new") << identifier->text();
  std::filesystem::rename(path + ".new", path);
  return identifier->text();
}

std::string read_identifier(const std::string& path) {
  std::string text;
  for (int i = 0; i < 600 && !(std::ifstream(path) >> text); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return text;
}

tutti::Status add_up(tutti::Communicator& ranks, int own) {
  double sum = own;
  if (auto status = ranks.all_reduce(std::span(&sum, 1)); !status) return status;
  if (ranks.rank() == 0) std::printf("%d ranks add up to %g\n", ranks.size(), sum);
  return {};
}

tutti::Status play(int rank, int size, const std::string& path) {
  const std::string identifier = rank == 0 ? make_identifier(path) : read_identifier(path);
  auto all = tutti::Communicator::create({.rank = rank, .size = size, .store = "tcp:" + identifier});
  if (!all) return all.status();
  if (auto status = add_up(*all, rank + 1); !status) return status;
  if (rank == size - 1) _exit(0);  // as if it had been killed
  const auto lost = all->barrier();
  if (rank == 0) std::printf("then: %s\n", std::string(tutti::name_of(lost.code())).c_str());
  auto rest = all->shrink();
  if (!rest) return rest.status();
  return add_up(*rest, rank + 1);
}

int run_rank(int rank, int size, const std::string& path) {
  const auto status = play(rank, size, path);
  if (!status) std::fprintf(stderr, "rank %d: %s\n", rank, std::string(status.text()).c_str());
  return status ? 0 : 1;
}

int main(int argument_count, char** arguments) {
  if (argument_count == 4) return run_rank(std::atoi(arguments[1]), std::atoi(arguments[2]), arguments[3]);

  char folder[] = "/tmp/tutti-example-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  for (int rank = 0; rank < 4; ++rank) {
    if (fork() == 0) return run_rank(rank, 4, std::string(folder) + "/identifier");
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed += status != 0 ? 1 : 0;
  std::filesystem::remove_all(folder);
  return failed;
}
