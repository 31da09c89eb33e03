#include "nccl/calls.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "nccl/ranks_for_test.h"
#include "tutti/nccl_extensions.h"

namespace tutti::nccl {
namespace {

using Floats = std::vector<float>;

// What rank r gives at place i.
float given(int rank, std::size_t place) { return static_cast<float>(rank + 1) * 10 + static_cast<float>(place % 7); }

std::vector<Floats> inputs(int ranks, std::size_t count) {
  std::vector<Floats> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Floats& one = all.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) one[i] = given(rank, i);
  }
  return all;
}

TEST(NcclCalls, EveryCollectiveGivesWhatItsNameSays) {
  constexpr int kRanks = 4;
  constexpr std::size_t kCount = 12;
  Ranks ranks(kRanks);
  const auto in = inputs(kRanks, kCount * kRanks);
  std::vector<Floats> out(kRanks, Floats(kCount * kRanks));
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  ranks.together([&](int r) {
    return ncclAllReduce(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, ncclMax, ranks.comms[at(r)],
                         ranks.streams[at(r)]);
  });
  for (const Floats& one : out)
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(one[i], given(kRanks - 1, i));
  ranks.together([&](int r) {
    return ncclAllGather(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, ranks.comms[at(r)],
                         ranks.streams[at(r)]);
  });
  for (const Floats& one : out)
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], given(static_cast<int>(i / kCount), i % kCount));
  ranks.together([&](int r) {
    return ncclReduceScatter(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, ncclMin, ranks.comms[at(r)],
                             ranks.streams[at(r)]);
  });
  for (int r = 0; r < kRanks; ++r)
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(out[at(r)][i], given(0, at(r) * kCount + i));
  ranks.together([&](int r) {
    return ncclAlltoAll(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, ranks.comms[at(r)],
                        ranks.streams[at(r)]);
  });
  for (int r = 0; r < kRanks; ++r)
    for (std::size_t i = 0; i < out[at(r)].size(); ++i)
      EXPECT_EQ(out[at(r)][i], given(static_cast<int>(i / kCount), at(r) * kCount + i % kCount));
}

TEST(NcclCalls, RootedCollectivesTouchNothingButWhatTheyShould) {
  constexpr int kRanks = 3;
  constexpr std::size_t kCount = 5;
  constexpr int kRoot = 2;
  Ranks ranks(kRanks);
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  const auto in = inputs(kRanks, kCount * kRanks);
  std::vector<Floats> out(kRanks, Floats(kCount * kRanks, -1));
  ranks.together([&](int r) {
    return ncclReduce(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, ncclSum, kRoot, ranks.comms[at(r)],
                      ranks.streams[at(r)]);
  });
  EXPECT_EQ(out[0][0], -1);
  EXPECT_EQ(out[2][1], given(0, 1) + given(1, 1) + given(2, 1));
  ranks.together([&](int r) {
    return ncclBroadcast(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, kRoot, ranks.comms[at(r)],
                         ranks.streams[at(r)]);
  });
  for (const Floats& one : out) EXPECT_EQ(one[3], given(kRoot, 3));
  ranks.together([&](int r) {
    return ncclGather(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, kRoot, ranks.comms[at(r)],
                      ranks.streams[at(r)]);
  });
  EXPECT_EQ(out[2][kCount + 2], given(1, 2));
  EXPECT_EQ(out[0][kCount + 2], -1);
  ranks.together([&](int r) {
    return ncclScatter(in[at(r)].data(), out[at(r)].data(), kCount, ncclFloat, kRoot, ranks.comms[at(r)],
                       ranks.streams[at(r)]);
  });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out[at(r)][4], given(kRoot, at(r) * kCount + 4));
}

TEST(NcclCalls, MessagesOfAGroupCrossWithoutWaitingForEachOther) {
  constexpr int kRanks = 4;
  constexpr std::size_t kCount = 100000;
  Ranks ranks(kRanks);
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  const auto in = inputs(kRanks, kCount);
  std::vector<Floats> out(kRanks, Floats(kCount));
  ranks.in_threads([&](int r) {
    for (int round = 0; round < 5; ++round) {
      ASSERT_EQ(ncclGroupStart(), ncclSuccess);
      ASSERT_EQ(ncclGroupStart(), ncclSuccess);
      ncclSend(in[at(r)].data(), kCount, ncclFloat, (r + 1) % kRanks, ranks.comms[at(r)], ranks.streams[at(r)]);
      ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
      ncclRecv(out[at(r)].data(), kCount, ncclFloat, (r + kRanks - 1) % kRanks, ranks.comms[at(r)],
               ranks.streams[at(r)]);
      ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
    }
    synchronize(ranks.streams[at(r)]);
  });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out[at(r)][99], given((r + kRanks - 1) % kRanks, 99));
}

// The default stream and those that wait for it are one order: calls of a group must not wait in it for each other.
TEST(NcclCalls, AGroupOnStreamsThatWaitForEachOtherEndsWhateverStreamEachRankTakes) {
  constexpr int kRanks = 2;
  std::vector<std::unique_ptr<Ranks>> all;
  for (int number = 0; number < 3; ++number) all.push_back(std::make_unique<Ranks>(kRanks));
  all[0]->in_threads([&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    auto& devices = device::Devices::of_process();
    const auto handle = devices.create_stream(rank, device::HostStream::Kind::blocking, 0);
    const auto blocking = static_cast<cudaStream_t>(const_cast<void*>(handle));
    const cudaStream_t streams[] = {blocking, nullptr, rank == 0 ? blocking : nullptr};
    float data[3] = {1, 1, 1};
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t number = 0; number < 3; ++number)
      ncclAllReduce(&data[number], &data[number], 1, ncclFloat, ncclSum, all[number]->comms[at], streams[number]);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
    synchronize(blocking);
    ASSERT_TRUE(devices.find_stream(nullptr, rank)->synchronize(Deadline::after(os::now(), std::chrono::seconds(60))));
    for (const float value : data) EXPECT_EQ(value, kRanks);
    devices.destroy_stream(blocking);
  });
}

TEST(NcclCalls, ACallReturnsBeforeTheOthersHaveCome) {
  Ranks ranks(2);
  float in[2] = {1, 2};
  float out[2] = {};
  ASSERT_EQ(ncclAllReduce(&in[0], &out[0], 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclSuccess);
  EXPECT_FALSE(device::Devices::of_process().find_stream(ranks.streams[0])->is_idle());
  ASSERT_EQ(ncclAllReduce(&in[1], &out[1], 1, ncclFloat, ncclSum, ranks.comms[1], ranks.streams[1]), ncclSuccess);
  for (const cudaStream_t stream : ranks.streams) synchronize(stream);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 3);
}

TEST(NcclCalls, AScalarOnTheDeviceIsReadWhenTheCallRuns) {
  Ranks ranks(2);
  float scalars[2] = {100, 100};
  float in[2] = {1, 2};
  float out[2] = {};
  std::array<ncclRedOp_t, 2> ops = {};
  for (int r = 0; r < 2; ++r)
    ASSERT_EQ(ncclRedOpCreatePreMulSum(&ops[r], &scalars[r], ncclFloat, ncclScalarDevice, ranks.comms[r]), ncclSuccess);
  scalars[0] = 3;
  scalars[1] = 5;
  ranks.together([&](int r) {
    return ncclAllReduce(&in[r], &out[r], 1, ncclFloat, ops[static_cast<std::size_t>(r)], ranks.comms[r],
                         ranks.streams[r]);
  });
  EXPECT_EQ(out[0], 13);
  EXPECT_EQ(ncclAllReduce(in, out, 1, ncclDouble, ops[0], ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpDestroy(ops[0], ranks.comms[0]), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(ops[0], ranks.comms[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(in, out, 1, ncclFloat, ops[0], ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
}

TEST(NcclCalls, AWrongCallSpoilsItsGroupAndNothingOfItRuns) {
  Ranks ranks(2);
  float in[2] = {1, 2};
  float out[2] = {-1, -1};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&in[0], &out[0], 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclSuccess);
  EXPECT_EQ(ncclBroadcast(&in[0], &out[0], 1, ncclFloat, 7, ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclGroupEnd: root 7 is not one of 2 ranks");
  EXPECT_TRUE(device::Devices::of_process().find_stream(ranks.streams[0])->is_idle());
  EXPECT_EQ(out[0], -1);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

TEST(NcclCalls, WrongUseIsAnErrorThatSaysWhatIsWrong) {
  Ranks ranks(2);
  float data[2] = {};
  const auto reduce = [&](ncclComm_t comm, int type, int op, cudaStream_t stream) {
    return ncclAllReduce(data, data, 1, static_cast<ncclDataType_t>(type), static_cast<ncclRedOp_t>(op), comm, stream);
  };
  EXPECT_EQ(reduce(nullptr, ncclFloat, ncclSum, ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "ncclAllReduce: the communicator is NULL");
  EXPECT_EQ(reduce(ranks.comms[0], 12, ncclSum, ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(reduce(ranks.comms[0], -1, ncclSum, ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(reduce(ranks.comms[0], ncclFloat, 99, ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(reduce(ranks.comms[0], ncclFloat, ncclSum, ranks.streams[1]), ncclInvalidUsage);
  EXPECT_EQ(reduce(ranks.comms[0], ncclFloat, ncclSum, reinterpret_cast<cudaStream_t>(data)), ncclInvalidArgument);
  EXPECT_EQ(ncclSend(data, 1, ncclFloat, 2, ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, data, 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclSuccess);
}

TEST(NcclCalls, AMessageToOneselfNeedsItsBuffers) {
  Ranks ranks(1);
  EXPECT_EQ(ncclSend(nullptr, 1, ncclFloat, 0, ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclRecv(nullptr, 1, ncclFloat, 0, ranks.comms[0], ranks.streams[0]), ncclInvalidArgument);
}

TEST(NcclCalls, EstimatesGrowWithTheDataAndNothingRuns) {
  Ranks ranks(4);
  std::vector<float> data(1 << 20);
  const auto estimate = [&](std::size_t count) {
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(data.data(), data.data(), count, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]),
              ncclSuccess);
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclSuccess) << last_error();
    return info.estimatedTime;
  };
  EXPECT_GT(estimate(1), 0);
  EXPECT_GT(estimate(1 << 20), 10 * estimate(1));
  EXPECT_TRUE(device::Devices::of_process().find_stream(ranks.streams[0])->is_idle());
}

TEST(NcclExtensions, BlocksMayDiffer) {
  constexpr int kRanks = 3;
  Ranks ranks(kRanks);
  const std::vector<std::size_t> counts = {1, 0, 3};
  std::vector<std::vector<int>> in = {{1}, {}, {2, 3, 4}};
  std::vector<std::vector<int>> out(kRanks, std::vector<int>(4));
  ranks.together([&](int r) {
    const auto at = static_cast<std::size_t>(r);
    return tuttiNcclAllGatherV(in[at].data(), out[at].data(), counts.data(), ncclInt, ranks.comms[at],
                               ranks.streams[at]);
  });
  for (const auto& one : out) EXPECT_EQ(one, (std::vector<int>{1, 2, 3, 4}));
  std::vector<std::vector<int>> full(kRanks, {1, 2, 3, 4});
  std::vector<std::vector<int>> parts(kRanks, std::vector<int>(4, -1));
  ranks.together([&](int r) {
    const auto at = static_cast<std::size_t>(r);
    return tuttiNcclReduceScatterV(full[at].data(), parts[at].data(), counts.data(), ncclInt, ncclSum, ranks.comms[at],
                                   ranks.streams[at]);
  });
  EXPECT_EQ(parts[0], (std::vector<int>{3, -1, -1, -1}));
  EXPECT_EQ(parts[2], (std::vector<int>{6, 9, 12, -1}));
  // Rank i sends i + j elements to rank j.
  std::vector<std::size_t> matrix;
  for (std::size_t i = 0; i < kRanks; ++i)
    for (std::size_t j = 0; j < kRanks; ++j) matrix.push_back(i + j);
  std::vector<std::vector<int>> sent(kRanks), taken(kRanks);
  for (std::size_t r = 0; r < kRanks; ++r) {
    sent[r].assign(3 * r + 3, static_cast<int>(r));
    taken[r].assign(3 * r + 3, -1);
  }
  ranks.together([&](int r) {
    const auto at = static_cast<std::size_t>(r);
    return tuttiNcclAlltoAllV(sent[at].data(), taken[at].data(), matrix.data(), ncclInt, ranks.comms[at],
                              ranks.streams[at]);
  });
  EXPECT_EQ(taken[1], (std::vector<int>{0, 1, 1, 2, 2, 2}));
}

TEST(NcclExtensions, AProgramMayBringItsOwnOperation) {
  struct Pair {
    float value;
    int place;
  };
  const auto larger = [](void* value, const void* operand, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
      Pair mine, theirs;
      std::memcpy(&mine, static_cast<std::byte*>(value) + i * sizeof(Pair), sizeof(Pair));
      std::memcpy(&theirs, static_cast<const std::byte*>(operand) + i * sizeof(Pair), sizeof(Pair));
      if (theirs.value > mine.value)
        std::memcpy(static_cast<std::byte*>(value) + i * sizeof(Pair), &theirs, sizeof(Pair));
    }
  };
  constexpr int kRanks = 3;
  Ranks ranks(kRanks);
  std::array<ncclRedOp_t, kRanks> ops = {};
  std::array<Pair, kRanks> in = {{{1, 0}, {9, 1}, {4, 2}}};
  std::array<Pair, kRanks> out = {};
  for (std::size_t r = 0; r < kRanks; ++r)
    ASSERT_EQ(tuttiNcclRedOpCreate(&ops[r], "larger", sizeof(Pair), larger, nullptr, ranks.comms[r]), ncclSuccess);
  ranks.together([&](int r) {
    const auto at = static_cast<std::size_t>(r);
    const ncclResult_t result =
        ncclAllReduce(&in[at], &out[at], 1, ncclUint8, ops[at], ranks.comms[at], ranks.streams[at]);
    ncclRedOpDestroy(ops[at], ranks.comms[at]);  // calls that use it keep it
    return result;
  });
  for (const Pair& one : out) EXPECT_EQ(one.place, 1);
}

TEST(NcclExtensions, ABarrierHoldsStreamsUntilAllHaveCome) {
  Ranks ranks(2);
  ASSERT_EQ(tuttiNcclBarrier(ranks.comms[0], ranks.streams[0]), ncclSuccess);
  EXPECT_FALSE(device::Devices::of_process().find_stream(ranks.streams[0])->is_idle());
  ASSERT_EQ(tuttiNcclBarrier(ranks.comms[1], ranks.streams[1]), ncclSuccess);
  for (const cudaStream_t stream : ranks.streams) synchronize(stream);
}

TEST(NcclExtensions, ACallThatWaitsTooLongNamesWhoIsMissing) {
  Ranks ranks(2);
  float data = 1;
  ASSERT_EQ(tuttiNcclSetCallTimeout(ranks.comms[0], 0.05), ncclSuccess);
  EXPECT_EQ(tuttiNcclSetCallTimeout(ranks.comms[0], -1), ncclInvalidArgument);
  ASSERT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, ranks.comms[0], ranks.streams[0]), ncclSuccess);
  synchronize(ranks.streams[0]);
  ncclResult_t result = ncclSuccess;
  ASSERT_EQ(ncclCommGetAsyncError(ranks.comms[0], &result), ncclSuccess);
  EXPECT_EQ(result, ncclRemoteError);
  const std::string text = ncclGetLastError(ranks.comms[0]);
  EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, ranks.comms[1], ranks.streams[1]), ncclRemoteError);
}

}  // namespace
}  // namespace tutti::nccl
