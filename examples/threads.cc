// The first communicator: four threads of one process add up their vectors.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

int main() {
  auto ranks = tutti::Communicator::create_local(4);
  if (!ranks) {
    std::fprintf(stderr, "%s\n", std::string(ranks.status().text()).c_str());
    return 1;
  }
  std::vector<std::vector<float>> data(4);
  std::vector<tutti::Status> statuses(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      data[i].assign(1000, static_cast<float>(i + 1));
      statuses[i] = (*ranks)[i].all_reduce(std::span(data[i]));
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < 4; ++i) {
    if (!statuses[i]) {
      std::fprintf(stderr, "rank %zu: %s\n", i, std::string(statuses[i].text()).c_str());
      return 1;
    }
    std::printf("rank %zu has %g\n", i, data[i][999]);
  }
  return 0;
}
