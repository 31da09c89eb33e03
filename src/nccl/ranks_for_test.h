// Ranks of one process for tests of the NCCL interface: each has a device, a stream and a communicator.
#pragma once

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "device/host/devices.h"
#include "os/clock.h"

namespace tutti::nccl {

inline cudaStream_t new_stream(int device) {
  return static_cast<cudaStream_t>(const_cast<void*>(
      device::Devices::of_process().create_stream(device, device::HostStream::Kind::non_blocking, 0)));
}

inline void synchronize(cudaStream_t stream) {
  const auto found = device::Devices::of_process().find_stream(stream);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->synchronize(Deadline::after(os::now(), std::chrono::seconds(60))));
}

inline std::string last_error() { return ncclGetLastError(nullptr); }

// Made by ncclCommInitAll, or by whoever fills it.
class Ranks {
 public:
  explicit Ranks(int count) : comms(static_cast<std::size_t>(count)) {
    for (int rank = 0; rank < count; ++rank) streams.push_back(new_stream(rank));
    EXPECT_EQ(ncclCommInitAll(comms.data(), count, nullptr), ncclSuccess) << last_error();
  }
  ~Ranks() {
    for (const ncclComm_t comm : comms)
      if (comm != nullptr) ncclCommAbort(comm);
    for (const cudaStream_t stream : streams) device::Devices::of_process().destroy_stream(stream);
  }

  int size() const { return static_cast<int>(comms.size()); }
  // One call of each rank, all in one group on this thread; then all streams are waited for.
  void together(const std::function<ncclResult_t(int rank)>& call) {
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < size(); ++rank) ASSERT_EQ(call(rank), ncclSuccess) << last_error();
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << last_error();
    for (const cudaStream_t stream : streams) synchronize(stream);
  }
  void in_threads(const std::function<void(int rank)>& work) const {
    std::vector<std::future<void>> all;
    for (int rank = 0; rank < size(); ++rank) all.push_back(std::async(std::launch::async, work, rank));
    for (std::future<void>& one : all) one.get();
  }

  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;
};

}  // namespace tutti::nccl
