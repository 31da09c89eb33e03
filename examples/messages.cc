// Messages between two ranks, and a group where everybody sends and receives at once.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

tutti::Status run(tutti::Communicator& c) {
  const int rank = c.rank();
  std::vector<float> mine = {static_cast<float>(rank)};
  std::vector<float> from_left(1);

  // Each on its own: one of the two sends, the other receives.
  if (rank == 0) TUTTI_TRY(c.send(std::span<const float>(mine), 1));
  if (rank == 1) TUTTI_TRY(c.receive(std::span(from_left), 0));

  // Around the ring: if everybody sent first and received afterwards, all would wait for ever.
  tutti::Group group;
  group.send(c, std::span<const float>(mine), (rank + 1) % c.size());
  group.receive(c, std::span(from_left), (rank + c.size() - 1) % c.size());
  TUTTI_TRY(group.run());

  if (rank == 0) std::printf("rank 0 has %g from its left\n", from_left[0]);
  return {};
}

int main() {
  auto ranks = tutti::Communicator::create_local(4);
  if (!ranks) return 1;
  std::vector<tutti::Status> statuses(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { statuses[i] = run((*ranks)[i]); });
  for (auto& thread : threads) thread.join();
  for (const auto& status : statuses) {
    if (status) continue;
    std::fprintf(stderr, "%s\n", std::string(status.text()).c_str());
    return 1;
  }
  return 0;
}
