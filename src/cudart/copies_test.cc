#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "cudart/gate_for_test.h"

namespace tutti::cudart {
namespace {

constexpr std::size_t kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

std::vector<int> numbers(int first) {
  std::vector<int> all(kCount);
  std::iota(all.begin(), all.end(), first);
  return all;
}

class CudaCopies : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&device_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&other_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&managed_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(device_), cudaSuccess);
    EXPECT_EQ(cudaFree(other_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
    EXPECT_EQ(cudaFree(managed_), cudaSuccess);
  }

  int* device_ = nullptr;
  int* other_ = nullptr;
  int* pinned_ = nullptr;
  int* managed_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CudaCopies, GoInAllDirections) {
  const std::vector<int> sent = numbers(5);
  std::vector<int> received(kCount);
  EXPECT_EQ(cudaMemcpy(device_, sent.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(other_, device_, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(managed_, other_, kBytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(pinned_, managed_, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(received.data(), pinned_, kBytes, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(cudaMemcpy(received.data() + 1, device_, kBytes - 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(received[1], 5);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST_F(CudaCopies, WrongSidesSizesAndPointersAreErrors) {
  std::vector<int> own(kCount);
  EXPECT_EQ(cudaMemcpy(device_, own.data(), kBytes, static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(own.data(), own.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(own.data(), own.data(), 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, device_, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, own.data(), kBytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_ + 1, own.data(), kBytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, own.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(own.data(), nullptr, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, own.data(), std::numeric_limits<std::size_t>::max(), cudaMemcpyDefault),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(own.data(), 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device_, 0, kBytes + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(nullptr, 0, 1), cudaErrorInvalidValue);
  int* freed = nullptr;
  ASSERT_EQ(cudaMalloc(&freed, kBytes), cudaSuccess);
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(freed, own.data(), 4, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(freed, own.data(), 4, cudaMemcpyHostToDevice, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(freed, 0, 4, stream_), cudaErrorInvalidValue);
  cudaStream_t destroyed = nullptr;
  ASSERT_EQ(cudaStreamCreate(&destroyed), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(destroyed), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(device_, own.data(), 4, cudaMemcpyDefault, destroyed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(device_, 0, 4, reinterpret_cast<cudaStream_t>(0x77)), cudaErrorInvalidResourceHandle);
}

TEST_F(CudaCopies, OnAStreamStandInItsOrder) {
  const auto gate = Gate::on(stream_);
  std::iota(pinned_, pinned_ + kCount, 1);
  std::fill(managed_, managed_ + kCount, 0);
  EXPECT_EQ(cudaMemcpyAsync(device_, pinned_, kBytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(other_, device_, kBytes, cudaMemcpyDeviceToDevice, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(device_, 0xff, kBytes, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(managed_, other_, kBytes, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  EXPECT_EQ(managed_[7], 0);
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(managed_[7], 8);
  EXPECT_EQ(device_[7], -1);
}

TEST_F(CudaCopies, FromPageableMemoryHaveReadItWhenTheyReturn) {
  const auto gate = Gate::on(stream_);
  {
    std::vector<int> gone = numbers(100);
    EXPECT_EQ(cudaMemcpyAsync(device_, gone.data(), kBytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
    std::fill(gone.begin(), gone.end(), -1);
  }
  gate->open();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(std::vector<int>(device_, device_ + kCount), numbers(100));
}

TEST_F(CudaCopies, ToPageableMemoryHaveWrittenItWhenTheyReturn) {
  const auto gate = Gate::on(stream_);
  EXPECT_EQ(cudaMemsetAsync(device_, 3, kBytes, stream_), cudaSuccess);
  std::vector<int> received(kCount);
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaMemcpyAsync(received.data(), device_, kBytes, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(received[kCount - 1], 0x03030303);
  opener.join();
}

TEST_F(CudaCopies, LargeOnesFromPageableMemoryWaitForTheStream) {
  const std::size_t bytes = std::size_t{3} << 20;
  char* large = nullptr;
  ASSERT_EQ(cudaMalloc(&large, bytes), cudaSuccess);
  const std::vector<char> sent(bytes, 'x');
  const auto gate = Gate::on(stream_);
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaMemcpyAsync(large, sent.data(), bytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  EXPECT_EQ(large[bytes - 1], 'x');
  opener.join();
  EXPECT_EQ(cudaFree(large), cudaSuccess);
}

TEST_F(CudaCopies, OfRowsLeaveWhatLiesBetweenThem) {
  std::array<char, 60> target{};
  std::array<char, 40> source{};
  std::iota(source.begin(), source.end(), 1);
  auto* const memory = reinterpret_cast<char*>(device_);
  EXPECT_EQ(cudaMemset(memory, 0, 100), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(memory, 20, source.data(), 10, 5, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(memory[20], 11);
  EXPECT_EQ(memory[24], 15);
  EXPECT_EQ(memory[25], 0);
  EXPECT_EQ(cudaMemcpy2DAsync(target.data(), 15, memory, 20, 5, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(target[15], 11);
  EXPECT_EQ(target[20], 0);
  EXPECT_EQ(cudaMemset2D(memory, 20, 9, 2, 3), cudaSuccess);
  EXPECT_EQ(cudaMemset2DAsync(memory + 2, 20, 8, 1, 3, stream_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(memory[40], 9);
  EXPECT_EQ(memory[42], 8);
  EXPECT_EQ(memory[43], 24);
  EXPECT_EQ(memory[60], 31);
}

TEST_F(CudaCopies, OfRowsThatDoNotFitAreErrors) {
  std::array<char, 100> own{};
  EXPECT_EQ(cudaMemcpy2D(device_, 4, own.data(), 10, 5, 4, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(device_, 10, own.data(), 4, 5, 4, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(device_, kBytes, own.data(), 10, 5, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2D(device_, 1, 0, 2, 2), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemset2D(device_, std::size_t{1} << 40, 0, 2, std::size_t{1} << 40), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2D(device_, 4, own.data(), 10, 0, 4, cudaMemcpyHostToDevice), cudaSuccess);
}

TEST_F(CudaCopies, BetweenDevicesKnowWhoseMemoryItIs) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  int* there = nullptr;
  ASSERT_EQ(cudaMalloc(&there, kBytes), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMemset(device_, 1, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(there, 1, device_, 0, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeerAsync(other_, 0, there, 1, kBytes, stream_), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(other_[3], 0x01010101);
  EXPECT_EQ(cudaMemcpyPeer(there, 0, device_, 0, kBytes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeer(there, 1, device_, 50, kBytes), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaFree(there), cudaSuccess);
}

}  // namespace
}  // namespace tutti::cudart
