// One rank's part of a sum over all ranks: its device, its stream, what it gives and what it gets; and calls that end
// the program with a sentence where they fail.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Other threads may be inside calls, so that nothing is taken down: the process just ends.
[[noreturn]] inline void give_up() {
  std::fflush(nullptr);
  std::_Exit(1);
}

// Compilers fill in the place of the call.
inline void check(cudaError_t error, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: CUDA: %s\n", file, line, cudaGetErrorString(error));
  give_up();
}

inline void check(ncclResult_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s:%d: NCCL: %s: %s\n", file, line, ncclGetErrorString(result), ncclGetLastError(nullptr));
  give_up();
}

// The number that the only argument of the program gives; without one, what is usual.
inline int number_of(int argument_count, char** arguments, int usual) {
  const int number = argument_count > 1 ? std::atoi(arguments[1]) : usual;
  if (number > 0 && argument_count <= 2) return number;
  std::fprintf(stderr, "give the number of devices, or nothing: %s %d\n", arguments[0], usual);
  give_up();
}

// Rank r gives r + 1 at place 0, r + 2 at place 1, and so on to place 99, then anew: what lands at a wrong place shows,
// and floats hold the sums exactly.
class Part {
 public:
  static constexpr std::size_t kCount = 10'000;

  Part(int rank, int device) : rank_(rank), device_(device) {
    std::vector<float> values(kCount);
    for (std::size_t place = 0; place < kCount; ++place) values[place] = static_cast<float>(rank + 1) + at(place);
    check(cudaSetDevice(device_));
    check(cudaMalloc(reinterpret_cast<void**>(&given_), kBytes));
    check(cudaMalloc(reinterpret_cast<void**>(&sum_), kBytes));
    check(cudaMemcpy(given_, values.data(), kBytes, cudaMemcpyHostToDevice));
    check(cudaMemset(sum_, 0, kBytes));
    check(cudaStreamCreate(&stream_));
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    check(cudaSetDevice(device_));
    check(cudaStreamDestroy(stream_));
    check(cudaFree(given_));
    check(cudaFree(sum_));
  }

  int rank() const { return rank_; }
  int device() const { return device_; }

  // Returns at once; the stream has the sum later.
  void add_up(ncclComm_t comm) { check(ncclAllReduce(given_, sum_, kCount, ncclFloat, ncclSum, comm, stream_)); }

  // Waits for the sum, says what came at the first place, and compares all of them.
  bool is_right(const char* host, int ranks) {
    check(cudaSetDevice(device_));
    check(cudaStreamSynchronize(stream_));
    std::vector<float> sums(kCount);
    check(cudaMemcpy(sums.data(), sum_, kBytes, cudaMemcpyDeviceToHost));
    const float of_ranks = static_cast<float>(ranks) * static_cast<float>(ranks + 1) / 2;
    std::size_t wrong = 0;
    for (std::size_t place = 0; place < kCount; ++place) {
      if (sums[place] != of_ranks + static_cast<float>(ranks) * at(place)) ++wrong;
    }
    std::printf("%s rank %d of %d, device %d: sum %g, expected %g, %zu of %zu wrong\n", host, rank_, ranks, device_,
                sums[0], of_ranks, wrong, kCount);
    return wrong == 0;
  }

 private:
  static constexpr std::size_t kBytes = kCount * sizeof(float);
  static float at(std::size_t place) { return static_cast<float>(place % 100); }

  int rank_;
  int device_;
  float* given_ = nullptr;
  float* sum_ = nullptr;
  cudaStream_t stream_ = nullptr;
};
