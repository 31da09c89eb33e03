// Six ranks as a grid of two rows and three columns: a communicator for each row, and one for each column.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

tutti::Status run(tutti::Communicator& all) {
  const int row = all.rank() / 3;
  const int column = all.rank() % 3;
  TUTTI_ASSIGN(auto my_row, all.split(row));
  TUTTI_ASSIGN(auto my_column, all.split(column));
  // Ranks that give kNoColor get no communicator.
  TUTTI_ASSIGN(const auto leaders, all.split(column == 0 ? 0 : tutti::Communicator::kNoColor));
  if (leaders.has_value() != (column == 0)) return {tutti::Code::internal, "only first columns lead"};

  std::vector<std::int64_t> value = {all.rank()};
  TUTTI_TRY(my_row->all_reduce(std::span(value)));
  const std::int64_t row_sum = value[0];
  TUTTI_TRY(my_column->all_reduce(std::span(value)));
  if (all.rank() == 4) {
    std::printf("rank 4 is rank %d of %d in its row, which adds up to %d, and the grid to %d\n", my_row->rank(),
                my_row->size(), static_cast<int>(row_sum), static_cast<int>(value[0]));
  }
  return {};
}

int main() {
  auto ranks = tutti::Communicator::create_local(6);
  if (!ranks) return 1;
  std::vector<tutti::Status> statuses(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 6; ++i) threads.emplace_back([&, i] { statuses[i] = run((*ranks)[i]); });
  for (auto& thread : threads) thread.join();
  for (const auto& status : statuses) {
    if (status) continue;
    std::fprintf(stderr, "%s\n", std::string(status.text()).c_str());
    return 1;
  }
  return 0;
}
