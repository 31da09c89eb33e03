// Ranks that do not agree on a call: all of them learn it, and the process goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nccl.h>  // and the CUDA runtime

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/nccl_programs/run.h"
#include "tests/plans/seed.h"

namespace tutti::programs {
namespace {

using namespace std::chrono_literals;

#if defined(TUTTI_HAS_SANITIZER)
constexpr int kTrials = 5;
#else
constexpr int kTrials = 30;
#endif
constexpr auto kLearnsWithin = 20s;
constexpr std::size_t kCount = 1000;

enum class Difference : std::uint8_t { count, type, op, root, collective };
constexpr int kDifferences = 5;

struct Trial {
  int ranks = 2;
  int odd_one = 0;  // who differs
  Difference difference = Difference::count;
  bool is_one_thread = false;
};

Trial draw_trial(std::uint64_t seed) {
  Random random(seed);
  Trial trial{.ranks = 2 + static_cast<int>(random.below(6))};
  trial.odd_one = static_cast<int>(random.below(static_cast<std::uint64_t>(trial.ranks)));
  trial.difference = static_cast<Difference>(random.below(kDifferences));
  trial.is_one_thread = random.below(2) == 0;
  return trial;
}

// A rank of the communicator with its stream and memory.
struct Rank {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  void* memory = nullptr;
};

ncclResult_t call(const Trial& trial, int rank, const Rank& mine) {
  const bool differs = rank == trial.odd_one;
  const std::size_t count = differs && trial.difference == Difference::count ? kCount - 1 : kCount;
  const ncclDataType_t type = differs && trial.difference == Difference::type ? ncclInt32 : ncclFloat;
  const ncclRedOp_t op = differs && trial.difference == Difference::op ? ncclMax : ncclSum;
  if (trial.difference == Difference::root)
    return ncclBroadcast(mine.memory, mine.memory, count, type, differs ? 1 : 0, mine.comm, mine.stream);
  if (differs && trial.difference == Difference::collective)
    return ncclBroadcast(mine.memory, mine.memory, count, type, 0, mine.comm, mine.stream);
  return ncclAllReduce(mine.memory, mine.memory, count, type, op, mine.comm, mine.stream);
}

// What the rank was told; empty: nothing, which is wrong.
std::string learn(const Rank& mine) {
  ncclResult_t result = ncclSuccess;
  const auto end = std::chrono::steady_clock::now() + kLearnsWithin;
  while (result == ncclSuccess || result == ncclInProgress) {
    if (ncclCommGetAsyncError(mine.comm, &result) != ncclSuccess) return {};
    if (std::chrono::steady_clock::now() > end) return {};
    std::this_thread::yield();
  }
  return ncclGetLastError(mine.comm);
}

void check(const std::vector<Rank>& ranks, int rank) {
  const Rank& mine = ranks[static_cast<std::size_t>(rank)];
  EXPECT_NE(learn(mine), "") << "rank " << rank << " was told nothing";
  // An error, or not: ranks that had all they needed before the disagreement showed are done.
  cudaStreamSynchronize(mine.stream);
  EXPECT_EQ(ncclCommAbort(mine.comm), ncclSuccess);
}

void run(const Trial& trial) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(trial.ranks));
  ASSERT_EQ(ncclCommInitAll(comms.data(), trial.ranks, nullptr), ncclSuccess);
  std::vector<Rank> ranks;
  for (int rank = 0; rank < trial.ranks; ++rank) {
    Rank& mine = ranks.emplace_back(Rank{.comm = comms[static_cast<std::size_t>(rank)]});
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&mine.stream), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&mine.memory, kCount * sizeof(float)), cudaSuccess);
  }
  if (trial.is_one_thread) {
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < trial.ranks; ++rank) call(trial, rank, ranks[static_cast<std::size_t>(rank)]);
    ncclGroupEnd();  // it may know already, or not
    for (int rank = 0; rank < trial.ranks; ++rank) check(ranks, rank);
  } else {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < trial.ranks; ++rank)
      threads.emplace_back([&, rank] {
        call(trial, rank, ranks[static_cast<std::size_t>(rank)]);  // whoever is late is told at once
        check(ranks, rank);
      });
    for (std::thread& thread : threads) thread.join();
  }
  for (const Rank& mine : ranks) {
    EXPECT_EQ(cudaStreamDestroy(mine.stream), cudaSuccess);
    EXPECT_EQ(cudaFree(mine.memory), cudaSuccess);
  }
}

TEST(NcclPrograms, AllRanksLearnThatOneDisagrees) {
  const std::uint64_t first = test_seed();
  for (std::uint64_t seed = first; seed < first + kTrials; ++seed) {
    const Trial trial = draw_trial(seed);
    SCOPED_TRACE(fmt::format("TUTTI_SEED={}: {} ranks, difference {} on rank {}{}", seed, trial.ranks,
                             static_cast<int>(trial.difference), trial.odd_one,
                             trial.is_one_thread ? ", in one thread" : ""));
    run(trial);
    EXPECT_EQ(run_in_threads(draw_program(seed, Validity::valid)), "") << "the process does not go on";
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::programs
