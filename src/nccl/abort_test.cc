// Communicators that are aborted before all ranks have come.
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "nccl/ranks_for_test.h"

namespace tutti::nccl {
namespace {

using namespace std::chrono_literals;

std::ptrdiff_t thread_count() {
  // With the first thread that is made, the thread sanitizer makes one of its own.
  static const bool has_made_one = (std::thread([] {}).join(), true);
  static_cast<void>(has_made_one);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// Whether it becomes true within the time that a test may take.
bool comes_true(const std::function<bool()>& condition) {
  for (const Deadline deadline = Deadline::after(os::now(), 20s); !condition(); std::this_thread::yield())
    if (deadline.has_passed(os::now())) return false;
  return true;
}

ncclConfig_t not_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

ncclResult_t state_of(ncclComm_t comm) {
  ncclResult_t result = ncclInternalError;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &result), ncclSuccess);
  return result;
}

TEST(NcclAbort, AStartWhoseRanksAreMissingEndsSoonAndLeavesNoThread) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = not_blocking();
  const auto before = thread_count();
  for (const int ranks : {1, 2, 3}) {
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(ncclCommInitRankConfig(&comms[static_cast<std::size_t>(rank)], 4, id, rank, &config), ncclInProgress);
      EXPECT_EQ(state_of(comms[static_cast<std::size_t>(rank)]), ncclInProgress);
    }
    EXPECT_EQ(ncclCommDestroy(comms[0]), ncclInvalidUsage) << "only an abort ends what is not ready";
    const Time begin = os::now();
    for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommAbort(comm), ncclSuccess) << last_error();
    EXPECT_LT(os::now().ns - begin.ns, 10'000'000'000u);
    EXPECT_TRUE(comes_true([&] { return thread_count() <= before; })) << thread_count() << " threads, not " << before;
    for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument) << "it is gone";
  }
}

TEST(NcclAbort, AnotherThreadMayAbortAStart) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = not_blocking();
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, 1, &config), ncclInProgress);
  std::thread([&] { EXPECT_EQ(ncclCommAbort(comm), ncclSuccess); }).join();
}

TEST(NcclAbort, AnAbortRacesWithTheLastRankThatComes) {
  ncclConfig_t config = not_blocking();
  for (int round = 0; round < 20; ++round) {
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ncclComm_t first = nullptr;
    ncclComm_t last = nullptr;
    ASSERT_EQ(ncclCommInitRankConfig(&first, 2, id, 0, &config), ncclInProgress);
    ASSERT_EQ(ncclCommInitRankConfig(&last, 2, id, 1, &config), ncclInProgress);
    EXPECT_EQ(ncclCommAbort(first), ncclSuccess);
    EXPECT_EQ(ncclCommAbort(last), ncclSuccess);
  }
}

TEST(NcclAbort, AShrinkWhoseRanksAreMissingEndsSoonAndFreesItsParent) {
  Ranks ranks(3);
  const auto before = thread_count();
  ncclConfig_t config = not_blocking();
  int excluded = 2;
  ncclComm_t shrunk = nullptr;
  ASSERT_EQ(ncclCommShrink(ranks.comms[0], &excluded, 1, &shrunk, &config, NCCL_SHRINK_DEFAULT), ncclInProgress);
  EXPECT_EQ(state_of(ranks.comms[0]), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(shrunk), ncclSuccess);
  EXPECT_TRUE(comes_true([&] { return state_of(ranks.comms[0]) == ncclSuccess; }));
  EXPECT_TRUE(comes_true([&] { return thread_count() <= before; }));
}

}  // namespace
}  // namespace tutti::nccl
