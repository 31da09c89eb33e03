#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cudart/gate_for_test.h"

namespace tutti::cudart {
namespace {

TEST(CudaDevices, ThereAreEightUnlessSaidOtherwise) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 8);
  EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
}

TEST(CudaDevices, EveryThreadHasItsCurrentOne) {
  int device = -1;
  EXPECT_EQ(cudaSetDevice(5), cudaSuccess);
  std::thread([] {
    int own = -1;
    EXPECT_EQ(cudaGetDevice(&own), cudaSuccess);
    EXPECT_EQ(own, 0);
  }).join();
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 5);
  EXPECT_EQ(cudaSetDevice(8), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 5);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(CudaDevices, SayWhatTheyAre) {
  std::set<std::string> buses;
  std::set<std::string> uuids;
  for (int device = 0; device < 8; ++device) {
    cudaDeviceProp prop;
    std::memset(&prop, 0xff, sizeof(prop));
    ASSERT_EQ(cudaGetDeviceProperties(&prop, device), cudaSuccess);
    EXPECT_STREQ(prop.name, "Tutti virtual device");
    EXPECT_GT(prop.totalGlobalMem, std::size_t{64} << 20);
    EXPECT_GE(prop.multiProcessorCount, 1);
    EXPECT_EQ(prop.reserved[0], 0);
    uuids.emplace(prop.uuid.bytes, sizeof(prop.uuid.bytes));
    char id[32];
    ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), device), cudaSuccess);
    buses.emplace(id);
    int found = -1;
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&found, id), cudaSuccess);
    EXPECT_EQ(found, device);
    int bus = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, device), cudaSuccess);
    EXPECT_EQ(bus, prop.pciBusID);
  }
  EXPECT_EQ(buses.size(), 8u);
  EXPECT_EQ(uuids.size(), 8u);
}

TEST(CudaDevices, WrongQuestionsAreErrors) {
  cudaDeviceProp prop;
  int value = 0;
  char small[4];
  EXPECT_EQ(cudaGetDeviceProperties(&prop, 8), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(small, sizeof(small), 0), cudaErrorInvalidValue);
  for (const char* const id : {"", "zz:01:00.0", "0000:00:00.0", "0000:01:05.0", "1", "123456789:01:00.0"})
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&value, id), cudaErrorInvalidValue) << id;
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&value, "0000:ff:00.0"), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&value, nullptr), cudaErrorInvalidValue);
}

TEST(CudaDevices, KnowTheirVersionFlagsAndPriorities) {
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  unsigned flags = 99;
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceFlags(&flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleYield | cudaDeviceMapHost});
  EXPECT_EQ(cudaSetDeviceFlags(0x1000), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceScheduleSpin), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDeviceFlags(0), cudaSuccess);
  EXPECT_EQ(cudaInitDevice(3, cudaDeviceScheduleSpin, 1), cudaSuccess);
  EXPECT_EQ(cudaInitDevice(30, 0, 0), cudaErrorInvalidDevice);
  int least = 99;
  int greatest = 99;
  EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
  EXPECT_EQ(cudaProfilerStart(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStop(), cudaSuccess);
}

TEST(CudaDevices, PeersAreEnabledOnceAndDisabledOnce) {
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 2, 2), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 77), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 7), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(88, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  int value = -1;
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(7), 0, 1), cudaErrorInvalidValue);
}

TEST(CudaDevices, WaitingForOneWaitsForAllItsStreamsAndNoOthers) {
  cudaStream_t here = nullptr;
  cudaStream_t there = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&here, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&there), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const auto away = Gate::on(there);
  const auto gate = Gate::on(here);
  std::thread opener([&] { gate->open(); });
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(here), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(there), cudaErrorNotReady);
  opener.join();
  away->open();
  EXPECT_EQ(cudaStreamSynchronize(there), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(here), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(there), cudaSuccess);
}

TEST(CudaDevices, AResetTakesMemoryStreamsAndPeersOfThatDeviceAway) {
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1000), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  void* other = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 1000), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(CudaErrors, TheLastOneIsKeptUntilItIsTaken) {
  (void)cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(1000), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudaErrors, HaveNamesAndWords) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorPeerAccessAlreadyEnabled), "peer access already enabled");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(1000)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(1000)), "unrecognized error code");
}

// Runs in a process of its own, because settings are read once.
TEST(CudaDevices, SixtyFourWorkInOneProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TUTTI_VIRTUAL_DEVICES", "64", 1);
  const auto work = [] {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count != 64) return 1;
    std::vector<cudaStream_t> streams(64);
    std::vector<int*> memory(64);
    for (int device = 0; device < 64; ++device) {
      const auto at = static_cast<std::size_t>(device);
      if (cudaSetDevice(device) != cudaSuccess || cudaStreamCreate(&streams[at]) != cudaSuccess) return 2;
      if (cudaMalloc(&memory[at], sizeof(int)) != cudaSuccess) return 3;
      if (cudaMemcpyAsync(memory[at], &device, sizeof(int), cudaMemcpyHostToDevice, streams[at]) != cudaSuccess)
        return 4;
    }
    for (int device = 0; device < 64; ++device) {
      int value = -1;
      const auto at = static_cast<std::size_t>(device);
      if (cudaStreamSynchronize(streams[at]) != cudaSuccess) return 5;
      if (cudaMemcpy(&value, memory[at], sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess || value != device)
        return 6;
    }
    return 0;
  };
  EXPECT_EXIT(std::_Exit(work()), testing::ExitedWithCode(0), "");
  unsetenv("TUTTI_VIRTUAL_DEVICES");
}

// Likewise.
TEST(CudaDevices, AreThoseThatTheListNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CUDA_VISIBLE_DEVICES", "7,2,99,3", 1);
  const auto work = [] {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count != 2) return 1;
    if (cudaSetDevice(2) != cudaErrorInvalidDevice || cudaSetDevice(1) != cudaSuccess) return 2;
    cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || prop.pciBusID != 8) return 3;
    char id[32];
    int found = -1;
    if (cudaDeviceGetPCIBusId(id, sizeof(id), 1) != cudaSuccess) return 4;
    if (cudaDeviceGetByPCIBusId(&found, id) != cudaSuccess || found != 1) return 5;
    if (cudaDeviceGetByPCIBusId(&found, "0000:01:00.0") != cudaErrorInvalidDevice) return 6;
    void* memory = nullptr;
    cudaPointerAttributes attributes;
    if (cudaMalloc(&memory, 64) != cudaSuccess) return 7;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess || attributes.device != 1) return 8;
    return 0;
  };
  EXPECT_EXIT(std::_Exit(work()), testing::ExitedWithCode(0), "");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(CudaDevices, WithoutAnyEveryCallSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const auto work = [] {
    int number = -1;
    void* memory = nullptr;
    cudaStream_t stream = nullptr;
    if (cudaGetDeviceCount(&number) != cudaErrorNoDevice || number != 0) return 1;
    if (cudaGetLastError() != cudaErrorNoDevice) return 2;
    if (cudaSetDevice(0) != cudaErrorNoDevice || cudaGetDevice(&number) != cudaErrorNoDevice) return 3;
    if (cudaMalloc(&memory, 64) != cudaErrorNoDevice || cudaStreamCreate(&stream) != cudaErrorNoDevice) return 4;
    if (cudaStreamSynchronize(nullptr) != cudaErrorNoDevice || cudaDeviceSynchronize() != cudaErrorNoDevice) return 5;
    if (cudaRuntimeGetVersion(&number) != cudaSuccess) return 6;
    return 0;
  };
  EXPECT_EXIT(std::_Exit(work()), testing::ExitedWithCode(0), "");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(CudaErrors, AreLoggedWithCallArgumentsAndReasonIfAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("TUTTI_CUDART_TRACE", "1", 1);
  EXPECT_EXIT(
      {
        (void)cudaFree(reinterpret_cast<void*>(0x10));
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "tutti: error: cudaFree\\(0x10\\): cudaErrorInvalidValue: no memory was allocated at");
  EXPECT_EXIT(
      {
        (void)cudaSetDevice(12);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "cudaSetDevice\\(12\\): cudaErrorInvalidDevice: device 12 is none of the 8");
  unsetenv("TUTTI_CUDART_TRACE");
  EXPECT_EXIT(
      {
        (void)cudaSetDevice(12);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace tutti::cudart
