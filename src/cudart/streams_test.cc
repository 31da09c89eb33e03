#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cudart/gate_for_test.h"

namespace tutti::cudart {
namespace {

cudaStream_t new_stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

cudaEvent_t new_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
  return event;
}

void fail_on(cudaStream_t stream) {
  const auto found = device::Devices::of_process().find_stream(stream);
  found->fail(Status(Code::peer_lost, "rank 3 has died"));
}

TEST(CudaStreams, AreWhatTheyWereCreatedAs) {
  ASSERT_EQ(cudaSetDevice(4), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  unsigned flags = 99;
  int priority = 99;
  int device = 99;
  unsigned long long id = 0;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(cudaStreamGetDevice(stream, &device), cudaSuccess);
  EXPECT_EQ(device, 4);
  EXPECT_EQ(cudaStreamGetId(stream, &id), cudaSuccess);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(cudaStreamGetFlags(nullptr, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamDefault});
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaStreams, WrongUseIsAnError) {
  cudaStream_t stream = nullptr;
  int value = 0;
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0x40), cudaErrorInvalidValue);
  stream = new_stream();
  EXPECT_EQ(cudaStreamGetPriority(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamGetDevice(stream, &value), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchHostFunc(
                stream, [](void*) {}, nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(0xdead)), cudaErrorInvalidResourceHandle);
}

TEST(CudaStreams, DestroyedOnesStillDoTheirWork) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, sizeof(int)), cudaSuccess);
  const cudaStream_t stream = new_stream();
  const auto gate = Gate::on(stream);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  gate->open();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*memory, 0x01010101);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

struct Called {
  std::atomic<int> count = 0;
  std::thread::id thread = {};
  cudaError_t answer = cudaSuccess;
};

TEST(CudaStreams, HostFunctionsRunInOrderAndNeverInsideTheCallThatAddsThem) {
  const cudaStream_t stream = new_stream();
  std::vector<int> seen;
  static thread_local bool is_adding = false;
  struct Note {
    std::vector<int>* seen;
    int number;
  };
  std::vector<Note> notes;
  for (int i = 0; i < 50; ++i) notes.push_back({&seen, i});
  for (auto& note : notes) {
    is_adding = true;
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream,
                  [](void* data) {
                    EXPECT_FALSE(is_adding);
                    const auto* one = static_cast<Note*>(data);
                    one->seen->push_back(one->number);
                  },
                  &note),
              cudaSuccess);
    is_adding = false;
  }
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(seen.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaStreams, HostFunctionsRunAlthoughNobodyWaits) {
  Called called;
  const cudaStream_t stream = new_stream();
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* data) { ++static_cast<Called*>(data)->count; }, &called),
            cudaSuccess);
  EXPECT_TRUE(comes_true([&] { return called.count == 1; }));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaStreams, CallbacksGetTheStreamAndMayNotWait) {
  static cudaStream_t expected = nullptr;
  Called called;
  const cudaStream_t stream = new_stream();
  expected = stream;
  ASSERT_EQ(cudaStreamAddCallback(
                stream,
                [](cudaStream_t given, cudaError_t status, void* data) {
                  EXPECT_EQ(given, expected);
                  EXPECT_EQ(status, cudaSuccess);
                  auto* const one = static_cast<Called*>(data);
                  one->answer = cudaStreamSynchronize(given);
                  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotPermitted);
                  ++one->count;
                },
                &called, 0),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(called.count, 1);
  EXPECT_EQ(called.answer, cudaErrorNotPermitted);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaStreams, AFailureOfWorkIsToldOnce) {
  const cudaStream_t stream = new_stream();
  fail_on(stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  fail_on(stream);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorLaunchFailure);
  fail_on(stream);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const cudaEvent_t event = new_event();
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  fail_on(stream);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaStreams, TheDefaultOneWaitsForBlockingOnesAndTheyForIt) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, sizeof(int)), cudaSuccess);
  const cudaStream_t blocking = new_stream();
  const cudaStream_t free_one = new_stream(cudaStreamNonBlocking);
  const auto gate = Gate::on(blocking);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(free_one), cudaSuccess);
  const cudaStream_t later = new_stream();
  EXPECT_EQ(cudaMemsetAsync(memory, 2, sizeof(int), later), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(later), cudaErrorNotReady);
  std::thread([&] { EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady); }).join();
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(later), cudaSuccess);
  EXPECT_EQ(*memory, 0x02020202);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  for (const cudaStream_t stream : {blocking, free_one, later}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudaStreams, EveryThreadHasItsOwn) {
  const auto gate = Gate::on(cudaStreamPerThread);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  std::thread([] { EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess); }).join();
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}

TEST(CudaStreams, WorkOfAThreadThatHasEndedIsWaitedFor) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, sizeof(int)), cudaSuccess);
  std::shared_ptr<Gate> gate;
  std::thread([&] {
    gate = Gate::on(cudaStreamPerThread);
    EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), cudaStreamPerThread), cudaSuccess);
  }).join();
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*memory, 0x01010101);
  opener.join();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudaEvents, ComeInTheOrderOfTheirStream) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  const auto gate = Gate::on(stream);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  opener.join();
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaEvents, StreamsOfOtherDevicesWaitForThem) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, sizeof(int)), cudaSuccess);
  *memory = 0;
  const cudaStream_t here = new_stream(cudaStreamNonBlocking);
  const cudaEvent_t event = new_event(cudaEventDisableTiming);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t there = new_stream();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(there, event, 0), cudaSuccess);  // never recorded: no wait
  const auto gate = Gate::on(here);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), here), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, here), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(there, event, 0), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 2, sizeof(int), there), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(there), cudaErrorNotReady);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);  // what waits for it goes on waiting
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(there), cudaSuccess);
  EXPECT_EQ(*memory, 0x02020202);
  EXPECT_EQ(cudaStreamDestroy(here), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(there), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudaEvents, TheTimeBetweenTwoIsThatOfTheWorkBetweenThem) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t start = new_event();
  const cudaEvent_t end = new_event();
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const Time before = os::now();
  const auto gate = Gate::on(stream);
  EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  ASSERT_TRUE(comes_true([&] { return os::now().ns - before.ns > 2'000'000; }));
  gate->open();
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 2.0f);
  EXPECT_LT(milliseconds, 20'000.0f);
  float back = 0;
  EXPECT_EQ(cudaEventElapsedTime(&back, end, start), cudaSuccess);
  EXPECT_EQ(back, -milliseconds);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaEvents, WrongUseIsAnError) {
  cudaEvent_t event = nullptr;
  float milliseconds = 0;
  EXPECT_EQ(cudaEventCreateWithFlags(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, 0x100), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming), cudaErrorNotSupported);
  const cudaEvent_t untimed = new_event(cudaEventDisableTiming);
  ASSERT_EQ(cudaEventCreate(&event, cudaEventBlockingSync), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(event, nullptr, cudaEventRecordDefault), cudaSuccess);
  EXPECT_EQ(cudaEventRecordWithFlags(event, nullptr, cudaEventRecordExternal), cudaErrorIllegalState);
  EXPECT_EQ(cudaEventRecordWithFlags(event, nullptr, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, event, event), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0x80), cudaErrorInvalidValue);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);  // an event of device 0
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
}

}  // namespace
}  // namespace tutti::cudart
