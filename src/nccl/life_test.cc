#include <gtest/gtest.h>
#include <nccl.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "nccl/ranks_for_test.h"

namespace tutti::nccl {
namespace {

using namespace std::chrono_literals;

void check_sum(ncclComm_t comm, cudaStream_t stream, float expected) {
  float data = 1;
  ASSERT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, stream), ncclSuccess) << last_error();
  synchronize(stream);
  EXPECT_EQ(data, expected);
}

ncclResult_t wait_for(ncclComm_t comm) {
  ncclResult_t result = ncclInProgress;
  for (const Deadline deadline = Deadline::after(os::now(), 30s); result == ncclInProgress;) {
    if (deadline.has_passed(os::now()) || ncclCommGetAsyncError(comm, &result) != ncclSuccess) break;
    std::this_thread::yield();
  }
  return result;
}

TEST(NcclLife, RanksOfOneThreadMeetInAGroup) {
  constexpr int kRanks = 4;
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << last_error();
  std::vector<ncclComm_t> comms(kRanks);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    ASSERT_TRUE(device::Devices::of_process().set_current(rank));
    ASSERT_EQ(ncclCommInitRank(&comms[static_cast<std::size_t>(rank)], kRanks, id, rank), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
  ASSERT_TRUE(device::Devices::of_process().set_current(0));
  for (int rank = 0; rank < kRanks; ++rank) {
    int told = -1;
    EXPECT_EQ(ncclCommUserRank(comms[static_cast<std::size_t>(rank)], &told), ncclSuccess);
    EXPECT_EQ(told, rank);
    EXPECT_EQ(ncclCommCuDevice(comms[static_cast<std::size_t>(rank)], &told), ncclSuccess);
    EXPECT_EQ(told, rank);
    EXPECT_EQ(ncclCommCount(comms[static_cast<std::size_t>(rank)], &told), ncclSuccess);
    EXPECT_EQ(told, kRanks);
  }
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclLife, ThreadsMeetOverAnIdentifier) {
  constexpr int kRanks = 3;
  ncclUniqueId ids[2];
  ASSERT_EQ(ncclGetUniqueId(&ids[0]), ncclSuccess);
  ASSERT_EQ(ncclGetUniqueId(&ids[1]), ncclSuccess);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRankScalable(&comm, kRanks, rank, 2, ids, nullptr), ncclSuccess) << last_error();
      const cudaStream_t stream = new_stream(0);
      check_sum(comm, stream, kRanks);
      EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
      float data = 0;
      EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, stream), ncclInvalidUsage);
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(NcclLife, WhatDoesNotBlockIsAskedHowFarItIs) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config), ncclInProgress);
  ncclResult_t result = ncclSuccess;
  ASSERT_EQ(ncclCommGetAsyncError(comms[0], &result), ncclSuccess);
  EXPECT_EQ(result, ncclInProgress);
  float data = 1;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclInvalidArgument);
  ASSERT_EQ(ncclCommInitRankConfig(&comms[1], 2, id, 1, &config), ncclInProgress);
  for (const ncclComm_t comm : comms) EXPECT_EQ(wait_for(comm), ncclSuccess);
  std::thread other([&] { check_sum(comms[1], new_stream(0), 2); });
  check_sum(comms[0], new_stream(0), 2);
  other.join();
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclLife, ConfigurationsOfOtherVersionsAreUnderstood) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  struct Newer {
    ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
    int more[64] = {};
  } newer;
  newer.known.size = sizeof(Newer);
  newer.known.version = NCCL_VERSION(2, 32, 3);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &newer.known), ncclSuccess) << last_error();
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  ncclConfig_t older = NCCL_CONFIG_INITIALIZER;
  older.size = 24;  // 2.14 had blocking and nothing else
  older.version = NCCL_VERSION(2, 14, 3);
  older.minCTAs = -5;  // lies behind the end
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &older), ncclSuccess) << last_error();
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  ncclConfig_t wrong = NCCL_CONFIG_INITIALIZER;
  wrong.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &wrong), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclCommInitRankConfig: blocking of the configuration is 2; it takes 0 to 1");
  std::memset(&wrong, 0, sizeof(wrong));
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &wrong), ncclInvalidArgument);
}

TEST(NcclLife, BadStartsAreNamed) {
  ncclUniqueId id = {};
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  const int devices[] = {0, 1000000};
  ncclComm_t comms[2];
  EXPECT_EQ(ncclCommInitAll(comms, 2, devices), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(reinterpret_cast<ncclComm_t>(&id)), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(nullptr), ncclInvalidArgument);
}

// In a process of its own, because devices are counted once.
TEST(NcclLife, WithoutADeviceThereIsNoCommunicator) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const auto work = [] {
    ncclUniqueId id;
    ncclComm_t comm = nullptr;
    void* memory = nullptr;
    if (ncclGetUniqueId(&id) != ncclSuccess) return 1;
    if (ncclCommInitRank(&comm, 1, id, 0) != ncclUnhandledCudaError) return 2;
    if (last_error().find("CUDA_VISIBLE_DEVICES") == std::string::npos) return 3;
    if (ncclCommInitAll(&comm, 1, nullptr) != ncclUnhandledCudaError) return 4;
    if (ncclMemAlloc(&memory, 64) != ncclUnhandledCudaError) return 5;
    return 0;
  };
  EXPECT_EXIT(std::_Exit(work()), testing::ExitedWithCode(0), "");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(NcclLife, ASplitHasColoursAndKeys) {
  constexpr int kRanks = 5;
  Ranks ranks(kRanks);
  std::vector<ncclComm_t> parts(kRanks);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int color = rank == 4 ? NCCL_SPLIT_NOCOLOR : rank % 2;
    ASSERT_EQ(ncclCommSplit(ranks.comms[at], color, -rank, &parts[at], nullptr), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
  EXPECT_EQ(parts[4], nullptr);
  int rank = -1;
  ASSERT_EQ(ncclCommUserRank(parts[2], &rank), ncclSuccess);
  EXPECT_EQ(rank, 0);
  ASSERT_EQ(ncclCommUserRank(parts[0], &rank), ncclSuccess);
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(ncclCommSplit(ranks.comms[0], -7, 0, &parts[0], nullptr), ncclInvalidArgument);
  for (std::size_t at = 1; at < 4; ++at) EXPECT_EQ(ncclCommDestroy(parts[at]), ncclSuccess);
}

TEST(NcclLife, ThoseWhoGoOnShrinkWithoutTheOthers) {
  constexpr int kRanks = 4;
  for (const int flags : {NCCL_SHRINK_DEFAULT, NCCL_SHRINK_ABORT}) {
    Ranks ranks(kRanks);
    int excluded[] = {1};
    ranks.in_threads([&](int rank) {
      if (rank == 1) return;
      const auto at = static_cast<std::size_t>(rank);
      ncclComm_t part = nullptr;
      if (flags == NCCL_SHRINK_ABORT) {  // something that will never end
        static float data[kRanks] = {};
        ncclAllReduce(&data[rank], &data[rank], 1, ncclFloat, ncclSum, ranks.comms[at], ranks.streams[at]);
      }
      ASSERT_EQ(ncclCommShrink(ranks.comms[at], excluded, 1, &part, nullptr, flags), ncclSuccess) << last_error();
      int size = 0;
      EXPECT_EQ(ncclCommCount(part, &size), ncclSuccess);
      EXPECT_EQ(size, 3);
      const cudaStream_t stream = new_stream(rank);
      check_sum(part, stream, 3);
      EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
    });
    EXPECT_EQ(ncclCommShrink(ranks.comms[1], excluded, 1, &ranks.comms[1], nullptr, flags), ncclInvalidUsage);
    ranks.comms[1] = nullptr;
  }
}

TEST(NcclLife, OneThatMissedAShrinkTakesPartInTheNext) {
  Ranks ranks(3);
  ranks.in_threads([&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (int excluded = 0; excluded < 3; ++excluded) {
      if (rank == excluded) continue;
      ncclComm_t part = nullptr;
      ASSERT_EQ(ncclCommShrink(ranks.comms[at], &excluded, 1, &part, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess)
          << last_error();
      check_sum(part, ranks.streams[at], 2);
      EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
    }
  });
}

TEST(NcclLife, NewcomersJoinAndTheOthersKeepTheirRanks) {
  Ranks ranks(2);
  ncclUniqueId id;
  ASSERT_EQ(ncclCommGetUniqueId(ranks.comms[0], &id), ncclSuccess) << last_error();
  const auto grow = [&](ncclComm_t comm, const ncclUniqueId* known, int rank, int device) {
    ASSERT_TRUE(device::Devices::of_process().set_current(device));
    ncclComm_t grown = nullptr;
    ASSERT_EQ(ncclCommGrow(comm, 3, known, rank, &grown, nullptr), ncclSuccess) << last_error();
    check_sum(grown, new_stream(device), 3);
    EXPECT_EQ(ncclCommDestroy(grown), ncclSuccess);
  };
  std::thread first([&] { grow(ranks.comms[0], &id, -1, 0); });
  std::thread second([&] { grow(ranks.comms[1], nullptr, -1, 1); });
  std::thread newcomer([&] { grow(nullptr, &id, 2, 2); });
  for (std::thread* thread : {&first, &second, &newcomer}) thread->join();
}

TEST(NcclLife, AnAbortEndsWhatWaitsOnEveryRank) {
  Ranks ranks(2);
  float data = 1;
  ASSERT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclSuccess);
  std::thread([&] { EXPECT_EQ(ncclCommAbort(ranks.comms[0]), ncclSuccess); }).join();
  EXPECT_EQ(ncclCommAbort(ranks.comms[0]), ncclInvalidArgument);
  ranks.comms[0] = nullptr;
  synchronize(ranks.streams[0]);
  ncclResult_t result = ncclSuccess;
  ASSERT_EQ(ncclCommGetAsyncError(ranks.comms[1], &result), ncclSuccess);
  EXPECT_EQ(result, ncclRemoteError);
  EXPECT_STREQ(ncclGetLastError(ranks.comms[1]), "rank 0 has aborted the communicator");
}

TEST(NcclLife, ARevokedCommunicatorTakesNoCallsAndCanShrink) {
  Ranks ranks(3);
  float data = 1;
  ASSERT_EQ(ncclCommRevoke(ranks.comms[0], NCCL_REVOKE_DEFAULT), ncclSuccess);
  EXPECT_EQ(ncclCommRevoke(ranks.comms[0], 1), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclInvalidUsage);
  int excluded[] = {2};
  ranks.in_threads([&](int rank) {
    if (rank == 2) return;
    const auto at = static_cast<std::size_t>(rank);
    ncclComm_t part = nullptr;
    ASSERT_EQ(ncclCommShrink(ranks.comms[at], excluded, 1, &part, nullptr, NCCL_SHRINK_ABORT), ncclSuccess)
        << last_error();
    check_sum(part, new_stream(rank), 2);
    EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
  });
}

TEST(NcclLife, RanksStoreIntoEachOthersWindows) {
  constexpr int kRanks = 3;
  constexpr std::size_t kCount = 1000;
  Ranks ranks(kRanks);
  std::vector<float*> buffers(kRanks);
  std::vector<ncclWindow_t> windows(kRanks);
  for (std::size_t at = 0; at < kRanks; ++at) {
    ASSERT_EQ(ncclMemAlloc(reinterpret_cast<void**>(&buffers[at]), kCount * kRanks * sizeof(float)), ncclSuccess);
    ASSERT_EQ(ncclCommWindowRegister(ranks.comms[at], buffers[at], kCount * kRanks * sizeof(float), &windows[at],
                                     NCCL_WIN_COLL_SYMMETRIC),
              ncclSuccess)
        << last_error();
    void* told = nullptr;
    EXPECT_EQ(ncclWinGetUserPtr(ranks.comms[at], windows[at], &told), ncclSuccess);
    EXPECT_EQ(told, buffers[at]);
  }
  std::vector<std::vector<float>> in(kRanks, std::vector<float>(kCount));
  ranks.in_threads([&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (float& value : in[at]) value = static_cast<float>(rank + 1);
    const int next = (rank + 1) % kRanks;
    const int before = (rank + kRanks - 1) % kRanks;
    ASSERT_EQ(ncclPutSignal(in[at].data(), kCount, ncclFloat, next, windows[at], at * kCount * sizeof(float), 0, 0, 0,
                            ranks.comms[at], ranks.streams[at]),
              ncclSuccess)
        << last_error();
    ASSERT_EQ(ncclSignal(next, 0, 0, 0, ranks.comms[at], ranks.streams[at]), ncclSuccess);
    ncclWaitSignalDesc_t wait{.opCnt = 2, .peer = before, .sigIdx = 0, .ctx = 0};
    ASSERT_EQ(ncclWaitSignal(1, &wait, ranks.comms[at], ranks.streams[at]), ncclSuccess);
    synchronize(ranks.streams[at]);
    EXPECT_EQ(buffers[at][static_cast<std::size_t>(before) * kCount + 5], static_cast<float>(before + 1));
    EXPECT_EQ(ncclPutSignal(in[at].data(), kCount, ncclFloat, next, windows[at], kCount * kRanks * 4 - 8, 0, 0, 0,
                            ranks.comms[at], ranks.streams[at]),
              ncclInvalidArgument);
  });
  for (std::size_t at = 0; at < kRanks; ++at) {
    EXPECT_EQ(ncclCommWindowDeregister(ranks.comms[at], windows[at]), ncclSuccess);
    EXPECT_EQ(ncclCommWindowDeregister(ranks.comms[at], windows[at]), ncclInvalidArgument);
    EXPECT_EQ(ncclMemFree(buffers[at]), ncclSuccess);
    EXPECT_EQ(ncclMemFree(buffers[at]), ncclInvalidArgument);
  }
}

TEST(NcclLife, RegistrationsAndStatisticsAreKept) {
  Ranks ranks(1);
  float data[16] = {};
  void* registration = nullptr;
  ASSERT_EQ(ncclCommRegister(ranks.comms[0], data, sizeof(data), &registration), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(ranks.comms[0], registration), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(ranks.comms[0], registration), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRegister(ranks.comms[0], nullptr, 4, &registration), ncclInvalidArgument);
  std::uint64_t value = 0;
  EXPECT_EQ(ncclCommMemStats(ranks.comms[0], ncclStatGpuMemTotal, &value), ncclSuccess);
  EXPECT_GT(value, 0u);
  EXPECT_EQ(ncclCommSuspend(ranks.comms[0], NCCL_SUSPEND_MEM), ncclSuccess);
  EXPECT_EQ(ncclCommSuspend(ranks.comms[0], NCCL_SUSPEND_MEM), ncclInvalidUsage);
  EXPECT_EQ(ncclCommMemStats(ranks.comms[0], ncclStatGpuMemSuspended, &value), ncclSuccess);
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(ncclCommResume(ranks.comms[0]), ncclSuccess);
}

TEST(NcclLife, ParametersAreTheVariablesOfTheEnvironment) {
  ::setenv("NCCL_NTHREADS", "256", 1);
  ncclParamHandle_t handle = nullptr;
  ASSERT_EQ(ncclParamBind(&handle, "NCCL_NTHREADS"), ncclSuccess) << last_error();
  std::int32_t number = 0;
  EXPECT_EQ(ncclParamGetI32(handle, &number), ncclSuccess);
  EXPECT_EQ(number, 256);
  std::int8_t small = 0;
  EXPECT_EQ(ncclParamGetI8(handle, &small), ncclInvalidArgument);
  const char* text = nullptr;
  EXPECT_EQ(ncclParamGetStr(handle, &text), ncclSuccess);
  EXPECT_STREQ(text, "256");
  ::unsetenv("NCCL_NTHREADS");
  EXPECT_EQ(ncclParamGetI32(handle, &number), ncclInvalidUsage);
  EXPECT_EQ(ncclParamBind(&handle, "NCCL_NO_SUCH_THING"), ncclInvalidArgument);
  const char** keys = nullptr;
  int count = 0;
  EXPECT_EQ(ncclParamGetAllParameterKeys(&keys, &count), ncclSuccess);
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace tutti::nccl
