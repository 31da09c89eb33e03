// Every collective once, over three threads.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

tutti::Status run(tutti::Communicator& c) {
  const int rank = c.rank();
  std::vector<std::int32_t> one = {rank + 1, 10 * (rank + 1)};
  std::vector<std::int32_t> all(6);
  const auto show = [&](const char* name, const std::vector<std::int32_t>& values) {
    if (rank != 0) return;
    std::printf("%-14s", name);
    for (const std::int32_t value : values) std::printf(" %d", value);
    std::printf("\n");
  };

  TUTTI_TRY(c.all_gather(std::span<const std::int32_t>(one), std::span(all)));
  show("all_gather", all);

  std::vector<std::int32_t> block(2);
  TUTTI_TRY(c.reduce_scatter(std::span<const std::int32_t>(all), std::span(block), tutti::Op::max));
  show("reduce_scatter", block);

  TUTTI_TRY(c.broadcast(std::span(block), 2));
  show("broadcast", block);

  TUTTI_TRY(c.reduce(std::span<const std::int32_t>(one), std::span(block), 0));  // block: only of the root
  show("reduce", block);

  TUTTI_TRY(c.gather(std::span<const std::int32_t>(one), std::span(all), 0));
  TUTTI_TRY(c.scatter(std::span<const std::int32_t>(all), std::span(block), 0));  // back to whom it came from
  show("scatter", block);

  std::vector<std::int32_t> sent(3, rank);
  std::vector<std::int32_t> received(3);
  TUTTI_TRY(c.all_to_all(std::span<const std::int32_t>(sent), std::span(received)));
  show("all_to_all", received);

  // The variable-count form: rank r has r elements.
  const std::vector<std::uint64_t> counts = {0, 1, 2};
  std::vector<std::int32_t> some(3);
  TUTTI_TRY(c.all_gather_v(std::span<const std::int32_t>(sent).first(counts[static_cast<std::size_t>(rank)]),
                           std::span(some), counts));
  show("all_gather_v", some);

  // In place: the input of an all_gather is this rank's block of the output.
  std::span<std::int32_t> mine = std::span(received).subspan(static_cast<std::size_t>(rank), 1);
  mine[0] = 7 + rank;
  TUTTI_TRY(c.all_gather(std::span<const std::int32_t>(mine), std::span(received)));
  show("in place", received);

  return c.barrier();
}

int main() {
  auto ranks = tutti::Communicator::create_local(3);
  if (!ranks) return 1;
  std::vector<tutti::Status> statuses(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { statuses[i] = run((*ranks)[i]); });
  for (auto& thread : threads) thread.join();
  for (const auto& status : statuses) {
    if (status) continue;
    std::fprintf(stderr, "%s\n", std::string(status.text()).c_str());
    return 1;
  }
  return 0;
}
