#include "tools/perf/crew.h"

#include "tools/perf/failure.h"

namespace tutti::perf {

Result<std::unique_ptr<Line>> Line::open(const ncclUniqueId& id, int process, int processes, int device) {
  std::unique_ptr<Line> line(new Line(processes, device));
  TUTTI_TRY(of_cuda(cudaSetDevice(device), "cudaSetDevice"));
  TUTTI_TRY(of_cuda(cudaStreamCreateWithFlags(&line->stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"));
  TUTTI_TRY(of_nccl(ncclCommInitRank(&line->comm_, processes, id, process), "ncclCommInitRank between processes"));
  return line;
}

Line::~Line() {
  if (comm_ != nullptr) static_cast<void>(ncclCommDestroy(comm_));
  if (memory_ != nullptr) static_cast<void>(cudaFree(memory_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Status Line::fetch(std::span<const double> mine, std::span<double> gathered) {
  if (capacity_ < mine.size()) {
    if (memory_ != nullptr) TUTTI_TRY(of_cuda(cudaFree(memory_), "cudaFree"));
    memory_ = nullptr;
    TUTTI_TRY(of_cuda(cudaMalloc(reinterpret_cast<void**>(&memory_), mine.size_bytes() + gathered.size_bytes()),
                      "cudaMalloc"));
    capacity_ = mine.size();
  }
  double* all = memory_ + capacity_;
  TUTTI_TRY(of_cuda(cudaMemcpyAsync(memory_, mine.data(), mine.size_bytes(), cudaMemcpyHostToDevice, stream_),
                    "cudaMemcpyAsync"));
  TUTTI_TRY(of_nccl(ncclAllGather(memory_, all, mine.size(), ncclDouble, comm_, stream_), "ncclAllGather", comm_));
  TUTTI_TRY(of_cuda(cudaMemcpyAsync(gathered.data(), all, gathered.size_bytes(), cudaMemcpyDeviceToHost, stream_),
                    "cudaMemcpyAsync"));
  return of_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

Result<std::vector<double>> Line::gather(std::span<const double> mine) {
  int device = 0;
  TUTTI_TRY(of_cuda(cudaGetDevice(&device), "cudaGetDevice"));
  TUTTI_TRY(of_cuda(cudaSetDevice(device_), "cudaSetDevice"));
  std::vector<double> gathered(static_cast<std::size_t>(processes_) * mine.size());
  const Status fetched = fetch(mine, gathered);
  // Where the stream has failed, the communicator knows why.
  ncclResult_t later = ncclSuccess;
  TUTTI_TRY(of_nccl(ncclCommGetAsyncError(comm_, &later), "ncclCommGetAsyncError", comm_));
  TUTTI_TRY(of_nccl(later, "ncclAllGather between processes", comm_));
  TUTTI_TRY(fetched);
  TUTTI_TRY(of_cuda(cudaSetDevice(device), "cudaSetDevice"));
  return gathered;
}

Status Crew::barrier(int thread) {
  if (line_ == nullptr) {
    meeting_.arrive_and_wait();
    return {};
  }
  const double nothing = 0;
  return gather(thread, {&nothing, 1}).status();
}

Result<std::vector<double>> Crew::gather(int thread, std::span<const double> mine) {
  slots_[static_cast<std::size_t>(thread)].assign(mine.begin(), mine.end());
  meeting_.arrive_and_wait();
  if (thread == 0) {
    gathered_.clear();
    for (const auto& slot : slots_) gathered_.insert(gathered_.end(), slot.begin(), slot.end());
    if (line_ != nullptr) {
      auto all = line_->gather(gathered_);
      failure_ = all.status();
      if (all) gathered_ = *std::move(all);
    }
  }
  meeting_.arrive_and_wait();
  if (!failure_) return failure_;
  std::vector<double> result = gathered_;
  meeting_.arrive_and_wait();
  return result;
}

}  // namespace tutti::perf
