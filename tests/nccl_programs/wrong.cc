#include "tests/nccl_programs/wrong.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace tutti::programs {
namespace {

constexpr std::size_t kCount = 16;

ncclResult_t expected_of(Wrong wrong) {
  const bool is_usage = wrong == Wrong::no_group_to_end || wrong == Wrong::shrink_of_itself ||
                        wrong == Wrong::scaled_on_stream_of_another_device || wrong == Wrong::stream_of_another_device;
  return is_usage ? ncclInvalidUsage : ncclInvalidArgument;
}

// Others do not belong to what a group does at its end.
bool can_be_grouped(Wrong wrong) { return wrong != Wrong::no_group_to_end && wrong != Wrong::no_place_for_error; }

class Attempt {
 public:
  explicit Attempt(const Scene& scene) : scene_(scene) { cudaSetDevice(scene.device); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    cudaSetDevice(scene_.device);
    if (op_ >= ncclNumOps) ncclRedOpDestroy(op_, scene_.comm);
    if (other_stream_ != nullptr) cudaStreamDestroy(other_stream_);
  }

  // What must be there before the call, and may not be made in a group.
  void prepare(Wrong wrong) {
    if (wrong == Wrong::destroyed_comm) {
      ncclCommInitAll(&other_comm_, 1, &scene_.device);
      ncclCommDestroy(other_comm_);
    }
    if (wrong == Wrong::destroyed_stream) {
      cudaStreamCreate(&destroyed_stream_);
      cudaStreamDestroy(destroyed_stream_);
    }
    if (wrong == Wrong::stream_of_another_device || wrong == Wrong::scaled_on_stream_of_another_device) {
      int count = 1;
      cudaGetDeviceCount(&count);
      cudaSetDevice((scene_.device + 1) % count);
      cudaStreamCreate(&other_stream_);
    }
    const bool is_device = wrong == Wrong::scaled_on_stream_of_another_device;
    if (is_device || wrong == Wrong::destroyed_op || wrong == Wrong::op_of_another_type) {
      float factor = 2;
      void* scalar = is_device ? static_cast<void*>(scene_.memory) : &factor;
      ncclRedOpCreatePreMulSum(&op_, scalar, ncclFloat, is_device ? ncclScalarDevice : ncclScalarHostImmediate,
                               scene_.comm);
      if (wrong == Wrong::destroyed_op) ncclRedOpDestroy(op_, scene_.comm);
    }
  }

  ncclResult_t make(Wrong wrong) {
    switch (wrong) {
      case Wrong::null_comm: return all_reduce({.comm = nullptr});
      case Wrong::destroyed_comm: return all_reduce({.comm = other_comm_});
      case Wrong::no_type: return all_reduce({.comm = scene_.comm, .type = ncclNumTypes});
      case Wrong::no_op: return all_reduce({.comm = scene_.comm, .op = static_cast<ncclRedOp_t>(1000)});
      case Wrong::destroyed_op: return all_reduce({.comm = scene_.comm, .op = op_});
      case Wrong::op_of_another_type: return all_reduce({.comm = scene_.comm, .type = ncclInt32, .op = op_});
      case Wrong::count_too_large: return all_reduce({.comm = scene_.comm, .count = SIZE_MAX / 2});
      case Wrong::null_input: return all_reduce({.comm = scene_.comm, .has_input = false});
      case Wrong::null_output: return all_reduce({.comm = scene_.comm, .has_output = false});
      case Wrong::unknown_stream: return all_reduce_on(reinterpret_cast<cudaStream_t>(scene_.memory), ncclSum);
      case Wrong::destroyed_stream: return all_reduce_on(destroyed_stream_, ncclSum);
      case Wrong::stream_of_another_device: return all_reduce_on(other_stream_, ncclSum);
      case Wrong::scaled_on_stream_of_another_device: return all_reduce_on(other_stream_, op_);
      case Wrong::root_out_of_range:
        return ncclBroadcast(scene_.memory, scene_.memory, kCount, ncclInt8, scene_.size, scene_.comm, scene_.stream);
      case Wrong::peer_out_of_range:
        return ncclSend(scene_.memory, kCount, ncclInt8, scene_.rank % 2 == 0 ? -1 : scene_.size, scene_.comm,
                        scene_.stream);
      case Wrong::null_message:
        return scene_.rank % 2 == 0
                   ? ncclSend(nullptr, kCount, ncclInt8, (scene_.rank + 1) % scene_.size, scene_.comm, scene_.stream)
                   : ncclRecv(nullptr, kCount, ncclInt8, scene_.rank - 1, scene_.comm, scene_.stream);
      case Wrong::no_group_to_end: return ncclGroupEnd();
      case Wrong::no_place_for_error: return ncclCommGetAsyncError(scene_.comm, nullptr);
      case Wrong::config_not_initialised:
      case Wrong::rank_out_of_range:
      case Wrong::no_ranks:
      case Wrong::no_identifier:
      case Wrong::no_place: return start(wrong);
      case Wrong::bad_color:
      case Wrong::shrink_without_others:
      case Wrong::shrink_of_itself: break;
    }
    return derive(wrong);
  }

  ncclResult_t right() { return all_reduce({.comm = scene_.comm}); }

 private:
  struct Given {
    ncclComm_t comm;
    ncclDataType_t type = ncclFloat;
    ncclRedOp_t op = ncclSum;
    std::size_t count = kCount;
    bool has_input = true;
    bool has_output = true;
  };
  ncclResult_t all_reduce(const Given& given) {
    return ncclAllReduce(given.has_input ? scene_.memory : nullptr, given.has_output ? scene_.memory : nullptr,
                         given.count, given.type, given.op, given.comm, scene_.stream);
  }
  ncclResult_t all_reduce_on(cudaStream_t stream, ncclRedOp_t op) {
    return ncclAllReduce(scene_.memory, scene_.memory, kCount, ncclFloat, op, scene_.comm, stream);
  }

  ncclResult_t start(Wrong wrong) {
    ncclComm_t made = nullptr;
    ncclConfig_t config = {};
    ncclUniqueId id;
    for (char& byte : id.internal) byte = 'x';
    if (wrong == Wrong::no_identifier) return ncclCommInitRank(&made, scene_.size, id, scene_.rank);
    ncclGetUniqueId(&id);
    if (wrong == Wrong::config_not_initialised) return ncclCommInitRankConfig(&made, 1, id, 0, &config);
    if (wrong == Wrong::rank_out_of_range) return ncclCommInitRank(&made, scene_.size, id, scene_.size);
    if (wrong == Wrong::no_ranks) return ncclCommInitRank(&made, 0, id, 0);
    return ncclCommInitRank(nullptr, scene_.size, id, scene_.rank);
  }

  ncclResult_t derive(Wrong wrong) {
    ncclComm_t made = nullptr;
    int itself = scene_.rank;
    if (wrong == Wrong::bad_color) return ncclCommSplit(scene_.comm, -7, 0, &made, nullptr);
    if (wrong == Wrong::shrink_of_itself)
      return ncclCommShrink(scene_.comm, &itself, 1, &made, nullptr, NCCL_SHRINK_DEFAULT);
    return ncclCommShrink(scene_.comm, nullptr, 0, &made, nullptr, NCCL_SHRINK_DEFAULT);
  }

  const Scene& scene_;
  ncclComm_t other_comm_ = nullptr;
  cudaStream_t other_stream_ = nullptr;
  cudaStream_t destroyed_stream_ = nullptr;
  ncclRedOp_t op_ = ncclSum;
};

std::string complaint(Wrong wrong, const char* what, ncclResult_t result) {
  return fmt::format("{}: {} said '{}' in place of '{}': {}", name_of(wrong), what, ncclGetErrorString(result),
                     ncclGetErrorString(expected_of(wrong)), ncclGetLastError(nullptr));
}

}  // namespace

std::string attempt(Wrong wrong, const Scene& scene) {
  // One rank cannot leave itself out: there would be none.
  if (wrong == Wrong::shrink_of_itself && scene.size == 1) return {};
  Attempt attempt(scene);
  attempt.prepare(wrong);
  const bool is_grouped = scene.is_grouped && can_be_grouped(wrong);
  if (is_grouped) {
    ncclGroupStart();
    if (const ncclResult_t result = attempt.right(); result != ncclSuccess) {
      ncclGroupEnd();
      return complaint(wrong, "a right call before it", result);
    }
  }
  const ncclResult_t result = attempt.make(wrong);
  const ncclResult_t ended = is_grouped ? ncclGroupEnd() : expected_of(wrong);
  if (result != expected_of(wrong)) return complaint(wrong, "the call", result);
  if (ended != expected_of(wrong)) return complaint(wrong, "ncclGroupEnd", ended);
  const std::string_view said = ncclGetLastError(scene.comm);
  if (said.find("nccl") != std::string_view::npos) return {};
  return fmt::format("{}: ncclGetLastError says '{}', which names no call", name_of(wrong), said);
}

}  // namespace tutti::programs
