// A program as users write it: sums on every device, default streams, a callback, events; returns 0 when all is right.
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                     \
  do {                                                                                                  \
    const cudaError_t result = (call);                                                                  \
    if (result != cudaSuccess) {                                                                        \
      std::printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(result), cudaGetErrorString(result)); \
      return 1;                                                                                         \
    }                                                                                                   \
  } while (false)

namespace {

int use_device(int device) {
  CHECK(cudaSetDevice(device));
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, device));
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  float* memory = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMalloc(&memory, 1000 * sizeof(float)));
  std::vector<float> numbers(1000, 1.0f + static_cast<float>(device));
  std::vector<float> back(1000);
  int calls = 0;
  CHECK(cudaEventRecord(start, stream));
  CHECK(cudaMemcpyAsync(memory, numbers.data(), 4000, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(back.data(), memory, 4000, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaLaunchHostFunc(
      stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaStreamSynchronize(stream));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(cudaMemcpyAsync(memory, numbers.data(), 4000, cudaMemcpyHostToDevice));
  CHECK(cudaStreamSynchronize(0));
  CHECK(cudaMemset(memory, 0, 4000));
  CHECK(cudaMemcpy(numbers.data(), memory, 4000, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(memory));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(stream));
  const bool is_right = back[999] == 1.0f + static_cast<float>(device) && numbers[999] == 0.0f && calls == 1;
  return is_right && milliseconds >= 0 && prop.totalGlobalMem > 0 ? 0 : 2;
}

// Whether two threads mean the same stream by 0.
int check_default_streams() {
  unsigned long long here = 0;
  unsigned long long there = 0;
  CHECK(cudaStreamGetId(0, &here));
  std::thread([&] { (void)cudaStreamGetId(0, &there); }).join();
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
  return here != there ? 0 : 3;
#else
  return here == there ? 0 : 3;
#endif
}

}  // namespace

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::vector<int> results(static_cast<std::size_t>(count), -1);
  std::vector<std::thread> threads;
  for (int device = 0; device < count; ++device)
    threads.emplace_back([&results, device] { results[static_cast<std::size_t>(device)] = use_device(device); });
  for (auto& thread : threads) thread.join();
  for (const int result : results)
    if (result != 0) return result;
  if (cudaFree(&count) != cudaErrorInvalidValue || cudaGetLastError() != cudaErrorInvalidValue) return 4;
  return check_default_streams();
}
