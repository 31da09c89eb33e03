#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cudart/gate_for_test.h"
#include "device/host/recording.h"

namespace tutti::cudart {
namespace {

void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }

class CudaGraphs : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&join_, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&memory_, 2 * sizeof(int)), cudaSuccess);
    memory_[0] = memory_[1] = 0;
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(fork_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(join_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
  }

  cudaStreamCaptureStatus status_of(cudaStream_t stream) {
    auto status = cudaStreamCaptureStatusInvalidated;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    return status;
  }

  // The capture of stream_ was lost; nothing stays behind.
  void expect_lost() {
    EXPECT_EQ(status_of(stream_), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(cudaMemsetAsync(memory_, 1, 4, stream_), cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(stream_), cudaStreamCaptureStatusNone);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }

  cudaStream_t stream_ = nullptr;
  cudaStream_t other_ = nullptr;
  cudaEvent_t fork_ = nullptr;
  cudaEvent_t join_ = nullptr;
  int* memory_ = nullptr;
};

TEST_F(CudaGraphs, WhatIsCapturedRunsOnlyWhenTheGraphIsLaunchedAndThenEveryTime) {
  std::atomic<int> count = 0;
  begin();
  EXPECT_EQ(status_of(stream_), cudaStreamCaptureStatusActive);
  unsigned long long id = 0;
  auto status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, &id), cudaSuccess);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(cudaMemsetAsync(memory_, 1, sizeof(int), stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(memory_ + 1, memory_, sizeof(int), cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, count_up, &count), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(status_of(stream_), cudaStreamCaptureStatusNone);
  EXPECT_EQ(memory_[1], 0);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 3u);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(executable, stream_), cudaSuccess);
  for (int round = 1; round <= 20; ++round) {
    memory_[1] = 0;
    EXPECT_EQ(cudaGraphLaunch(executable, round % 2 == 0 ? other_ : nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(memory_[1], 0x01010101);
    EXPECT_EQ(count, round);
  }
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(cudaGraphLaunch(executable, round % 2 == 0 ? other_ : stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);  // what was launched still runs
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(count, 40);
}

TEST_F(CudaGraphs, StreamsThatWaitForAnEventOfACaptureJoinIt) {
  struct Order {
    std::atomic<int> next = 0;
    int first = -1;
    int forked = -1;
    int last = -1;
  } order;
  begin();
  EXPECT_EQ(cudaLaunchHostFunc(
                stream_,
                [](void* data) {
                  auto* o = static_cast<Order*>(data);
                  o->first = o->next++;
                },
                &order),
            cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  EXPECT_EQ(status_of(other_), cudaStreamCaptureStatusActive);
  EXPECT_EQ(cudaLaunchHostFunc(
                other_,
                [](void* data) {
                  auto* o = static_cast<Order*>(data);
                  o->forked = o->next++;
                },
                &order),
            cudaSuccess);
  EXPECT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, join_, 0), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream_,
                [](void* data) {
                  auto* o = static_cast<Order*>(data);
                  o->last = o->next++;
                },
                &order),
            cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(status_of(other_), cudaStreamCaptureStatusNone);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
  for (int round = 0; round < 3; ++round) {
    order.next = 0;
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(order.first, 0);
    EXPECT_EQ(order.forked, 1);
    EXPECT_EQ(order.last, 2);
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// As ranks of a collective: each ends only when the other has begun.
struct Partner final : device::Task {
  explicit Partner(std::atomic<int>& count) : arrived(count) {}
  bool progress() override {
    if (!has_arrived) ++arrived;
    has_arrived = true;
    return arrived % 2 == 0;
  }
  std::atomic<int>& arrived;
  bool has_arrived = false;
};

TEST_F(CudaGraphs, StreamsOfAGraphRunAtTheSameTime) {
  std::atomic<int> arrived = 0;
  const auto add = [&](cudaStream_t stream) {
    const auto recording = device::Devices::of_process().find_stream(stream)->recording();
    ASSERT_NE(recording, nullptr);
    recording->add([&arrived] { return std::make_shared<Partner>(arrived); });
  };
  begin();
  EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  add(stream_);  // before the wait: the other stream must not wait for it
  EXPECT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  add(other_);
  EXPECT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, join_, 0), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int round = 1; round <= 5; ++round) {
    EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(arrived, 2 * round);
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudaGraphs, CaptureEndsOnItsFirstStreamWithAllOthersJoined) {
  begin();
  EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory_, 1, 4, other_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(status_of(other_), cudaStreamCaptureStatusNone);
  begin();
  EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other_, &graph), cudaErrorStreamCaptureUnmatched);
  expect_lost();
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
}

TEST_F(CudaGraphs, WaitingInACaptureLosesIt) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  begin();
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  begin();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  begin();
  EXPECT_EQ(cudaMemset(memory_, 0, 4), cudaErrorStreamCaptureImplicit);  // on the default stream, which waits
  expect_lost();
  begin();
  EXPECT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(fork_), cudaErrorCapturedEvent);
  expect_lost();
  begin();
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocAsync(&memory, 8, stream_), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  begin();
  EXPECT_EQ(cudaStreamAddCallback(
                stream_, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0),
            cudaErrorStreamCaptureUnsupported);
  expect_lost();
}

TEST_F(CudaGraphs, EventsOfOutsideDoNotComeIn) {
  const auto gate = Gate::on(other_);
  EXPECT_EQ(cudaEventRecord(fork_, other_), cudaSuccess);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(stream_, fork_, 0), cudaErrorStreamCaptureIsolation);
  expect_lost();
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(other_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(fork_, other_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, fork_, 0), cudaErrorStreamCaptureMerge);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other_, &graph), cudaErrorStreamCaptureInvalidated);
  expect_lost();
}

TEST_F(CudaGraphs, ExternalEventsAreRecordedByEveryRun) {
  begin();
  EXPECT_EQ(cudaEventRecordWithFlags(fork_, stream_, cudaEventRecordExternal), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const auto gate = Gate::on(stream_);
  EXPECT_EQ(cudaEventQuery(fork_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(fork_), cudaErrorNotReady);
  gate->open();
  EXPECT_EQ(cudaEventSynchronize(fork_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudaGraphs, WrongUseIsAnError) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  std::size_t nodes = 0;
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, static_cast<cudaStreamCaptureMode>(3)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 0u);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);  // of nothing
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(nullptr, graph, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0x100), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaErrorInvalidValue);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  std::thread([&] {
    cudaGraph_t none = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &none), cudaErrorStreamCaptureWrongThread);
  }).join();
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  auto mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace tutti::cudart
