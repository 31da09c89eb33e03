// A collective as a value: builds the ring all-reduce of four ranks, proves it and prints it.
#include <cstdio>
#include <variant>

#include "tutti/check.h"
#include "tutti/plan.h"

int main() {
  using namespace tutti::plan;
  const Algorithm* ring = find_algorithm("ring", Collective::all_reduce);
  if (ring == nullptr) return 1;
  const auto plan = build(*ring, {.collective = Collective::all_reduce, .ranks = 4});
  if (!plan) {
    std::fprintf(stderr, "%s\n", std::string(plan.status().text()).c_str());
    return 1;
  }
  const auto verdict = check(*plan);
  if (const auto* fault = std::get_if<Fault>(&verdict)) {
    std::fprintf(stderr, "%s\n", fault->text().c_str());
    return 1;
  }
  const auto& proof = std::get<Proof>(verdict);
  std::printf("%s", print(*plan).c_str());
  std::printf("proved: %llu steps, %llu messages\n", static_cast<unsigned long long>(proof.steps),
              static_cast<unsigned long long>(proof.messages));
  return 0;
}
