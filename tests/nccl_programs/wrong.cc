#include "tests/nccl_programs/wrong.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace tutti::programs {
namespace {

constexpr std::size_t kCount = 16;

ncclResult_t expected_of(Wrong wrong) {
  switch (wrong) {
    case Wrong::no_group_to_end:
    case Wrong::shrink_of_itself:
    case Wrong::scaled_on_stream_of_another_device:
    case Wrong::stream_of_another_device: return ncclInvalidUsage;
    default: return ncclInvalidArgument;
  }
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
      default: return make_comm(wrong);
    }
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

  ncclResult_t make_comm(Wrong wrong) {
    ncclComm_t made = nullptr;
    ncclConfig_t config = {};
    ncclUniqueId id;
    const bool needs_identifier = wrong == Wrong::rank_out_of_range || wrong == Wrong::no_ranks ||
                                  wrong == Wrong::config_not_initialised || wrong == Wrong::no_place;
    for (char& byte : id.internal) byte = 'x';
    if (needs_identifier) ncclGetUniqueId(&id);
    int itself[] = {scene_.rank};
    switch (wrong) {
      case Wrong::config_not_initialised: return ncclCommInitRankConfig(&made, 1, id, 0, &config);
      case Wrong::rank_out_of_range: return ncclCommInitRank(&made, scene_.size, id, scene_.size);
      case Wrong::no_ranks: return ncclCommInitRank(&made, 0, id, 0);
      case Wrong::no_identifier: return ncclCommInitRank(&made, scene_.size, id, scene_.rank);
      case Wrong::no_place: return ncclCommInitRank(nullptr, scene_.size, id, scene_.rank);
      case Wrong::bad_color: return ncclCommSplit(scene_.comm, -7, 0, &made, nullptr);
      case Wrong::shrink_without_others:
        return ncclCommShrink(scene_.comm, nullptr, 0, &made, nullptr, NCCL_SHRINK_DEFAULT);
      case Wrong::shrink_of_itself:
        return scene_.size > 1 ? ncclCommShrink(scene_.comm, itself, 1, &made, nullptr, NCCL_SHRINK_DEFAULT)
                               : ncclInvalidUsage;
      default: return ncclSuccess;
    }
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
  Attempt attempt(scene);
  attempt.prepare(wrong);
  const bool is_grouped =
      scene.is_grouped && can_be_grouped(wrong) && !(wrong == Wrong::shrink_of_itself && scene.size == 1);
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
  if (std::string_view(ncclGetLastError(scene.comm)).find("nccl") == std::string_view::npos &&
      !(wrong == Wrong::shrink_of_itself && scene.size == 1))
    return fmt::format("{}: ncclGetLastError says '{}', which names no call", name_of(wrong),
                       ncclGetLastError(scene.comm));
  return {};
}

}  // namespace tutti::programs
