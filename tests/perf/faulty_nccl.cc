// Some functions of NCCL that do wrong as PERF_TEST_FAULT says, or say what they were given, and then do right.
//
// "flip", "before", "after", "input" and "skip" are faults of all-reduce on rank 1; "hang" leaves rank 1's call out
// while the others wait; "slow" makes it return late; "watch" writes what calls are given to stderr.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

constexpr int kFaultyRank = 1;
constexpr std::chrono::milliseconds kLate(50);

std::string_view fault() {
  const char* value = std::getenv("PERF_TEST_FAULT");
  return value == nullptr ? "" : value;
}

int rank_of(ncclComm_t comm) {
  int rank = -1;
  static_cast<void>(pncclCommUserRank(comm, &rank));
  return rank;
}

// The memory of a virtual device is memory of the process.
void spoil(const void* send, void* receive, std::size_t count) {
  auto* output = static_cast<std::uint32_t*>(receive);
  auto* bytes = static_cast<std::uint8_t*>(receive);
  if (fault() == "flip") output[count / 2] ^= 1;
  if (fault() == "before") bytes[-1] ^= 1;
  if (fault() == "after") bytes[count * sizeof(std::uint32_t)] ^= 1;
  if (fault() == "input" && send != receive) *static_cast<std::uint8_t*>(const_cast<void*>(send)) ^= 1;
}

}  // namespace

extern "C" {

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  if (fault() == "watch")
    fmt::print(stderr, "watched: all-reduce of {} at {} on {}\n", count, reinterpret_cast<std::uintptr_t>(send) % 64,
               stream == nullptr ? "the null stream" : "a stream");
  if (fault() == "skip") return ncclSuccess;
  const bool is_faulty = rank_of(comm) == kFaultyRank && !fault().empty();
  if (fault() == "hang" && is_faulty) return ncclSuccess;
  if (fault() == "slow" && is_faulty) std::this_thread::sleep_for(kLate);
  const ncclResult_t result = pncclAllReduce(send, receive, count, type, op, comm, stream);
  if (result != ncclSuccess || !is_faulty || fault() == "slow" || fault() == "watch") return result;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return ncclUnhandledCudaError;
  spoil(send, receive, count);
  return ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* memory, std::size_t bytes, void** handle) {
  if (fault() == "watch") fmt::print(stderr, "watched: {} bytes registered\n", bytes);
  return pncclCommRegister(comm, memory, bytes, handle);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* memory, std::size_t bytes, ncclWindow_t* window, int flags) {
  if (fault() == "watch") fmt::print(stderr, "watched: {} bytes as a window, flags {}\n", bytes, flags);
  return pncclCommWindowRegister(comm, memory, bytes, window, flags);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (fault() == "watch") fmt::print(stderr, "watched: a communicator with CTA policy {}\n", config->CTAPolicy);
  return pncclCommInitRankConfig(comm, ranks, id, rank, config);
}

}  // extern "C"
