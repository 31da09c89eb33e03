#include "tests/nccl_programs/quitting.h"

#include <memory>

namespace tutti::programs {
namespace {

constexpr std::size_t kCount = 5000;  // more than travels without the others
constexpr std::size_t kBytes = kCount * sizeof(int);

// Memory and a stream of its own for each rank: what fails there must not be seen elsewhere. The memory comes and goes
// in the order of that stream: cudaFree waits for all streams of the device, where a player of another thread may have
// a call that needs what this thread does next.
class Stage {
 public:
  explicit Stage(const Quitter& quitter) : quitter_(quitter) {
    cudaSetDevice(quitter.device);
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaMallocAsync(&memory_, kBytes, stream_);
    cudaMemsetAsync(memory_, 0, kBytes, stream_);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    cudaSetDevice(quitter_.device);
    cudaFreeAsync(memory_, stream_);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }

  const Quitter& quitter() const { return quitter_; }
  ncclResult_t add_up() {
    cudaSetDevice(quitter_.device);
    return ncclAllReduce(memory_, memory_, kCount, ncclInt, ncclSum, quitter_.comm, stream_);
  }
  cudaError_t wait() { return cudaStreamSynchronize(stream_); }

 private:
  Quitter quitter_;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// When the one that aborts is through, all others have ended what they called before: only this call of theirs may
// fail.
std::string meet(std::vector<std::unique_ptr<Stage>>& stages) {
  ncclGroupStart();
  for (const auto& stage : stages) stage->add_up();
  ncclGroupEnd();
  for (const auto& stage : stages)
    if (stage->wait() != cudaSuccess && stage->quitter().aborts) return "the last good call failed";
  return "";
}

// The stream goes on: whoever looks at the communicator learns of the abort.
std::string leave(Stage& stage, ncclResult_t begun) {
  if (begun == ncclSuccess) stage.wait();
  ncclResult_t result = ncclSuccess;
  if (ncclCommGetAsyncError(stage.quitter().comm, &result) != ncclSuccess) return "ncclCommGetAsyncError failed";
  if (result == ncclSuccess) return "ncclCommGetAsyncError knows nothing of an abort";
  return ncclCommAbort(stage.quitter().comm) == ncclSuccess ? "" : "ncclCommAbort failed on a rank that was left";
}

}  // namespace

std::string quit(const std::vector<Quitter>& quitters) {
  std::vector<std::unique_ptr<Stage>> stages;
  for (const Quitter& quitter : quitters) stages.push_back(std::make_unique<Stage>(quitter));
  std::string problem = meet(stages);
  std::vector<ncclResult_t> begun;
  for (const auto& stage : stages) begun.push_back(stage->quitter().aborts ? ncclSuccess : stage->add_up());
  for (const auto& stage : stages)
    if (stage->quitter().aborts && ncclCommAbort(stage->quitter().comm) != ncclSuccess && problem.empty())
      problem = "ncclCommAbort failed";
  for (std::size_t index = 0; index < stages.size(); ++index) {
    if (stages[index]->quitter().aborts) continue;
    const std::string left = leave(*stages[index], begun[index]);
    if (problem.empty()) problem = left;
  }
  return problem;
}

}  // namespace tutti::programs
