// The threads of all processes of a run, as they wait for each other and put numbers together.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <barrier>
#include <memory>
#include <span>
#include <vector>

#include "tutti/status.h"

namespace tutti::perf {

// How processes meet while they measure: a communicator of one rank of each, apart from those that are measured.
class Line {
 public:
  static Result<std::unique_ptr<Line>> open(const ncclUniqueId& id, int process, int processes, int device);
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line();

  // What each process gives, as many numbers each, by process.
  Result<std::vector<double>> gather(std::span<const double> mine);

 private:
  Line(int processes, int device) : processes_(processes), device_(device) {}
  Status fetch(std::span<const double> mine, std::span<double> gathered);
  int processes_;
  int device_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  double* memory_ = nullptr;
  std::size_t capacity_ = 0;  // numbers of each process
};

// Every thread calls the same functions in the same order. A thread that fails ends the process, so nobody waits for
// it.
class Crew {
 public:
  // `line` is nullptr where there is one process.
  Crew(int threads, Line* line) : threads_(threads), line_(line), meeting_(threads), slots_(threads) {}

  Status barrier(int thread);
  // What each thread gives, as many numbers each, by process and thread.
  Result<std::vector<double>> gather(int thread, std::span<const double> mine);

 private:
  int threads_;
  Line* line_;
  std::barrier<> meeting_;
  std::vector<std::vector<double>> slots_;  // by thread
  std::vector<double> gathered_;
  Status failure_;
};

}  // namespace tutti::perf
