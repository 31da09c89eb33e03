// Communicators that may take only so much memory.
#include <gtest/gtest.h>

#include <malloc.h>
#include <array>
#include <string>
#include <vector>

#include "comm/layout.h"
#include "nccl/ranks_for_test.h"
#include "tutti/nccl_extensions.h"

namespace tutti::nccl {
namespace {

// For the communicators that this thread makes while it lives.
class Limit {
 public:
  explicit Limit(std::size_t bytes) { EXPECT_EQ(tuttiNcclSetMemoryLimit(bytes), ncclSuccess); }
  Limit(const Limit&) = delete;
  ~Limit() { tuttiNcclSetMemoryLimit(0); }
};

std::uint64_t taken_by(ncclComm_t comm) {
  std::uint64_t bytes = 0;
  EXPECT_EQ(ncclCommMemStats(comm, ncclStatGpuMemTotal, &bytes), ncclSuccess) << last_error();
  return bytes;
}

// All of them, with counts that need one tile and many. What a rank has at place i is rank + i % 5.
void run_everything(Ranks& ranks, std::size_t count) {
  const auto n = static_cast<std::size_t>(ranks.size());
  std::vector<std::vector<float>> in(n);
  std::vector<std::vector<float>> out(n, std::vector<float>(count * n));
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t i = 0; i < count * n; ++i) in[rank].push_back(static_cast<float>(rank + i % 5));
  const auto at = [&](int rank) { return static_cast<std::size_t>(rank); };
  const auto sum_at = [&](std::size_t i) { return static_cast<float>(n * (n - 1) / 2 + n * (i % 5)); };
  ranks.together([&](int rank) {
    return ncclAllReduce(in[at(rank)].data(), out[at(rank)].data(), count, ncclFloat, ncclSum, ranks.comms[at(rank)],
                         ranks.streams[at(rank)]);
  });
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[rank][i], sum_at(i)) << "all-reduce, rank " << rank;
  ranks.together([&](int rank) {
    return ncclReduceScatter(in[at(rank)].data(), out[at(rank)].data(), count, ncclFloat, ncclSum,
                             ranks.comms[at(rank)], ranks.streams[at(rank)]);
  });
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(out[rank][i], sum_at(rank * count + i)) << "reduce-scatter, rank " << rank;
  ranks.together([&](int rank) {
    return ncclAlltoAll(in[at(rank)].data(), out[at(rank)].data(), count, ncclFloat, ranks.comms[at(rank)],
                        ranks.streams[at(rank)]);
  });
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(out[rank][from * count + i], static_cast<float>(from + (rank * count + i) % 5)) << "all-to-all";
}

// To the next rank and from the one before, then on to the one after the next, and so on.
void send_everywhere(Ranks& ranks, std::size_t count) {
  const auto n = static_cast<std::size_t>(ranks.size());
  for (std::size_t step = 1; step < n; ++step) {
    std::vector<std::vector<int>> in(n);
    std::vector<std::vector<int>> out(n, std::vector<int>(count));
    for (std::size_t rank = 0; rank < n; ++rank) in[rank].assign(count, static_cast<int>(rank));
    ranks.together([&](int rank) {
      const auto at = static_cast<std::size_t>(rank);
      const int next = static_cast<int>((at + step) % n);
      const int before = static_cast<int>((at + n - step) % n);
      const ncclResult_t sent = ncclSend(in[at].data(), count, ncclInt, next, ranks.comms[at], ranks.streams[at]);
      if (sent != ncclSuccess) return sent;
      return ncclRecv(out[at].data(), count, ncclInt, before, ranks.comms[at], ranks.streams[at]);
    });
    for (std::size_t rank = 0; rank < n; ++rank)
      ASSERT_EQ(out[rank], std::vector<int>(count, static_cast<int>((rank + n - step) % n)));
  }
}

TEST(NcclMemoryLimit, ACommunicatorTakesNoMoreAndStillWorks) {
  for (const int size : {1, 2, 3, 8}) {
    const std::size_t limit = comm::SideLayout::least_limit_bytes(size);
    const Limit limited(limit);
    Ranks ranks(size);
    for (const std::size_t count : {1, 7, 1000, 40'000}) {
      run_everything(ranks, count);
      send_everywhere(ranks, count);
      for (const ncclComm_t comm : ranks.comms) EXPECT_LE(taken_by(comm), limit) << size << " ranks, " << count;
    }
  }
}

TEST(NcclMemoryLimit, HoldsForStartsThatAnotherThreadMakes) {
  const std::size_t limit = comm::SideLayout::least_limit_bytes(2);
  const Limit limited(limit);
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  std::array<ncclComm_t, 2> comms = {};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_EQ(ncclCommInitRankConfig(&comms[static_cast<std::size_t>(rank)], 2, id, rank, &config), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclInProgress);
  for (const ncclComm_t comm : comms) {
    ncclResult_t result = ncclInProgress;
    while (result == ncclInProgress) ASSERT_EQ(ncclCommGetAsyncError(comm, &result), ncclSuccess);
    ASSERT_EQ(result, ncclSuccess);
    EXPECT_LE(taken_by(comm), limit);
  }
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST(NcclMemoryLimit, ManySizesStayUnderTheLimit) {
  const std::size_t limit = comm::SideLayout::least_limit_bytes(4);
  const Limit limited(limit);
  Ranks ranks(4);
  for (std::size_t count = 1; count < 300; ++count) {
    run_everything(ranks, count);
    for (const ncclComm_t comm : ranks.comms) ASSERT_LE(taken_by(comm), limit) << count;
  }
}

TEST(NcclMemoryLimit, WhatIsMadeFromACommunicatorKeepsToItsLimit) {
  const std::size_t limit = comm::SideLayout::least_limit_bytes(5);
  const Limit limited(limit);
  Ranks ranks(5);
  Ranks parts(3);
  for (ncclComm_t& comm : parts.comms) ncclCommAbort(std::exchange(comm, nullptr));
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 5; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    ncclComm_t none = nullptr;
    ASSERT_EQ(ncclCommSplit(ranks.comms[at], rank < 3 ? 0 : NCCL_SPLIT_NOCOLOR, rank,
                            rank < 3 ? &parts.comms[at] : &none, nullptr),
              ncclSuccess)
        << last_error();
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
  run_everything(parts, 20'000);
  for (const ncclComm_t comm : parts.comms) EXPECT_LE(taken_by(comm), limit);
}

#ifndef TUTTI_HAS_SANITIZER
// glibc says how much of what malloc gave is in use; instrumented programs have another malloc.
std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Taken {
  std::size_t grown = 0;  // what malloc gave
  std::size_t said = 0;   // by the statistics, without pages, which malloc does not see
};

Taken taken_by_eight(std::size_t limit) {
  const Limit limited(limit);
  const std::size_t before = allocated_bytes();
  Ranks ranks(8);
  for (const std::size_t count : {5, 500, 50'000}) run_everything(ranks, count);
  Taken taken{.grown = allocated_bytes() - before};
  for (const ncclComm_t comm : ranks.comms) taken.said += taken_by(comm);
  EXPECT_LE(taken.said, 8 * limit);
  taken.said -= 8 * comm::SideLayout::within(limit, 8)->bytes();
  return taken;
}

TEST(NcclMemoryLimit, TheStatisticsAreWhatIsTaken) {
  {
    Ranks warm_up(8);
    run_everything(warm_up, 1000);
  }
  // Beside what is counted there is what malloc adds to small pieces, and streams and handles.
  const auto is_near = [](const Taken& taken) {
    return taken.grown <= taken.said * 5 / 4 + (64 << 10) && taken.grown >= taken.said * 3 / 4;
  };
  // Other threads may still be giving back what earlier communicators had, which looks as if less were taken.
  constexpr int kTries = 20;
  const std::size_t limit = comm::SideLayout::least_limit_bytes(8);
  Taken taken = taken_by_eight(limit);
  for (int i = 1; i < kTries && !is_near(taken); ++i) taken = taken_by_eight(limit);
  EXPECT_GT(taken.said, 0u);
  EXPECT_TRUE(is_near(taken)) << taken.grown << " bytes were taken, the statistics say " << taken.said;
}
#endif

// What each rank of an ncclCommInitRank in threads of its own says, with a limit of its own.
std::vector<std::string> starts_with(const std::vector<std::size_t>& limits) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const int size = static_cast<int>(limits.size());
  std::vector<std::future<std::string>> all;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(std::async(std::launch::async, [&, rank]() -> std::string {
      const Limit limited(limits[static_cast<std::size_t>(rank)]);
      ncclComm_t comm = nullptr;
      if (ncclCommInitRank(&comm, size, id, rank) != ncclSuccess) return last_error();
      ncclCommAbort(comm);
      return "";
    }));
  }
  std::vector<std::string> said;
  for (auto& one : all) said.push_back(one.get());
  return said;
}

TEST(NcclMemoryLimit, OneThatIsTooSmallIsAnErrorOnEveryRank) {
  const std::size_t least = comm::SideLayout::least_limit_bytes(3);
  for (const std::string& text : starts_with({least, least, least})) EXPECT_EQ(text, "");
  for (const std::string& text : starts_with({least - 1, least - 1, least - 1})) {
    EXPECT_NE(text.find("memory limit of " + std::to_string(least - 1)), std::string::npos) << text;
    EXPECT_NE(text.find("raise it to " + std::to_string(least)), std::string::npos) << text;
  }
  const Limit limited(1000);
  std::array<ncclComm_t, 2> comms = {};
  EXPECT_EQ(ncclCommInitAll(comms.data(), 2, nullptr), ncclSystemError);
  EXPECT_NE(last_error().find("memory limit of 1000 bytes"), std::string::npos) << last_error();
}

TEST(NcclMemoryLimit, LimitsThatDifferAreAnErrorOnEveryRank) {
  for (const std::string& text : starts_with({10 << 20, 10 << 20, 1000}))
    EXPECT_NE(text.find("rank 2 one of 1000"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::nccl
