// What a user of the installed library writes first.
#include <tutti/plan.h>

#include <cstdio>

int main() {
  using namespace tutti::plan;
  const Algorithm* ring = find_algorithm("ring", Collective::all_reduce);
  if (ring == nullptr) return 1;
  const auto plan = build(*ring, {.collective = Collective::all_reduce, .ranks = 2});
  if (!plan) return 1;
  std::printf("%s", print(*plan).c_str());
  return 0;
}
