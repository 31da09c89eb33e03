#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "cudart/gate_for_test.h"
#include "device/host/heap.h"

namespace tutti::cudart {
namespace {

void* const kNowhere = reinterpret_cast<void*>(0x10);

TEST(CudaMemory, LiesInTheSharedHeapAlignedForCuda) {
  for (const std::size_t bytes : {1, 3, 256, 300, 5000, 3 << 20}) {
    float* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u) << bytes;
    EXPECT_TRUE(device::Heap::existing()->offset_of(memory, bytes));
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

TEST(CudaMemory, OfNoBytesIsNull) {
  void* memory = kNowhere;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
}

TEST(CudaMemory, ThatDoesNotExistIsOutOfMemory) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, std::numeric_limits<std::size_t>::max()), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
}

TEST(CudaMemory, IsFreedOnceAndByTheCallOfItsKind) {
  char* memory = nullptr;
  char* pinned = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 100), cudaSuccess);
  EXPECT_EQ(cudaFree(memory + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(kNowhere), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue);
}

TEST(CudaMemory, IsGivenBackWhenItIsFreed) {
  void* first = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 10), cudaSuccess);
  const std::size_t used = device::Heap::existing()->used_bytes();
  std::size_t free_before = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, std::size_t{8} << 20), cudaSuccess);
  std::size_t free_between = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_between, &total), cudaSuccess);
  EXPECT_LE(free_between, free_before);
  EXPECT_LE(free_between, total);
  EXPECT_GT(device::Heap::existing()->used_bytes(), used);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(device::Heap::existing()->used_bytes(), used);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(nullptr, &total), cudaErrorInvalidValue);
}

TEST(CudaMemory, FreeingWaitsForTheDevice) {
  int* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, sizeof(int)), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto gate = Gate::on(stream);
  ASSERT_EQ(cudaMemsetAsync(memory, 1, sizeof(int), stream), cudaSuccess);
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  opener.join();
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaMemory, FreedInStreamOrderStaysUntilThen) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  int* memory = nullptr;
  int* result = nullptr;
  ASSERT_EQ(cudaMallocHost(&result, sizeof(int)), cudaSuccess);
  const auto gate = Gate::on(stream);
  ASSERT_EQ(cudaMallocAsync(&memory, sizeof(int), stream), cudaSuccess);
  const std::size_t used = device::Heap::existing()->used_bytes();
  EXPECT_EQ(cudaMemsetAsync(memory, 7, sizeof(int), stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(result, memory, sizeof(int), cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(device::Heap::existing()->used_bytes(), used);
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*result, 0x07070707);
  EXPECT_LT(device::Heap::existing()->used_bytes(), used);
  EXPECT_EQ(cudaFreeAsync(nullptr, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(result), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  void* other = nullptr;
  EXPECT_EQ(cudaMallocAsync(&other, 4, stream), cudaErrorInvalidResourceHandle);
}

TEST(CudaMemory, RegisteringRangesThatOverlapIsAnError) {
  std::vector<char> own(10000);
  EXPECT_EQ(cudaHostRegister(own.data() + 1000, 2000, cudaHostRegisterMapped), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(own.data() + 1000, 2000, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(own.data() + 2999, 1, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(own.data() + 500, 501, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(own.data() + 500, 500, 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(own.data(), 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(nullptr, 8, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(own.data() + 5000, 8, 0x100), cudaErrorInvalidValue);
  unsigned flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, own.data() + 1001), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaHostRegisterMapped});
  void* device_side = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&device_side, own.data() + 1001, 0), cudaSuccess);
  EXPECT_EQ(device_side, own.data() + 1001);
  EXPECT_EQ(cudaHostUnregister(own.data() + 1001), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(own.data() + 1000), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(own.data() + 1000), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(own.data() + 500), cudaSuccess);
  EXPECT_EQ(cudaHostGetDevicePointer(&device_side, own.data() + 1001, 0), cudaErrorInvalidValue);
}

TEST(CudaMemory, PointersSayWhatTheyAre) {
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
  char* memory = nullptr;
  char* pinned = nullptr;
  char* managed = nullptr;
  char own[8];
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&pinned, 64, cudaHostAllocPortable), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory + 63), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 3);
  EXPECT_EQ(attributes.devicePointer, memory + 63);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory + 64), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, own), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, cudaInvalidDeviceId);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, own), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(CudaMemory, FlagsThatDoNotExistAreErrors) {
  void* memory = nullptr;
  EXPECT_EQ(cudaHostAlloc(&memory, 8, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&memory, 8, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&memory, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostGetFlags(nullptr, memory), cudaErrorInvalidValue);
}

TEST(CudaMemory, OtherProcessesHaveNoHandles) {
  cudaIpcMemHandle_t handle{};
  cudaIpcEventHandle_t event_handle{};
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcOpenMemHandle(&memory, handle, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcGetEventHandle(&event_handle, event), cudaErrorNotSupported);
  EXPECT_EQ(cudaIpcOpenEventHandle(&event, event_handle), cudaErrorNotSupported);
}

TEST(CudaMemory, ServesManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([thread] {
      ASSERT_EQ(cudaSetDevice(thread), cudaSuccess);
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
      for (int round = 0; round < 200; ++round) {
        const std::size_t count = 1 + static_cast<std::size_t>(round) * 7;
        int* memory = nullptr;
        ASSERT_EQ(cudaMalloc(&memory, count * sizeof(int)), cudaSuccess);
        const std::vector<int> sent(count, thread * 1000 + round);
        std::vector<int> received(count);
        ASSERT_EQ(cudaMemcpyAsync(memory, sent.data(), count * sizeof(int), cudaMemcpyHostToDevice, stream),
                  cudaSuccess);
        ASSERT_EQ(cudaMemcpyAsync(received.data(), memory, count * sizeof(int), cudaMemcpyDeviceToHost, stream),
                  cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        ASSERT_EQ(received, sent);
        ASSERT_EQ(cudaFree(memory), cudaSuccess);
      }
      ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tutti::cudart
