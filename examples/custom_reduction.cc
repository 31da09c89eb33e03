// A reduction that the program defines: where the largest value is, over all ranks.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

struct Peak {
  float value;
  std::int32_t rank;
};

// Elements need no alignment, so they are copied out and in.
void keep_larger(void* value, const void* operand, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    Peak mine;
    Peak other;
    std::memcpy(&mine, static_cast<char*>(value) + i * sizeof(Peak), sizeof(Peak));
    std::memcpy(&other, static_cast<const char*>(operand) + i * sizeof(Peak), sizeof(Peak));
    if (other.value > mine.value) std::memcpy(static_cast<char*>(value) + i * sizeof(Peak), &other, sizeof(Peak));
  }
}

int main() {
  const tutti::CustomOperation largest{
      .name = "peak", .element_bytes = sizeof(Peak), .combine = keep_larger, .context = nullptr};
  auto ranks = tutti::Communicator::create_local(4);
  if (!ranks) return 1;
  std::vector<Peak> peaks(4);
  std::vector<tutti::Status> statuses(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto rank = static_cast<std::int32_t>(i);
      peaks[i] = {static_cast<float>(rank * (3 - rank)), rank};
      statuses[i] = (*ranks)[i].run({.in = &peaks[i], .out = &peaks[i], .count = 1, .reduction = largest});
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& status : statuses) {
    if (status) continue;
    std::fprintf(stderr, "%s\n", std::string(status.text()).c_str());
    return 1;
  }
  std::printf("%g on rank %d\n", peaks[0].value, peaks[0].rank);
  return 0;
}
