// The other side of tutti::Stream and tutti::Work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/host/stream.h"
#include "tutti/communicator.h"

namespace tutti {

struct Work::State {
  void finish(const Status& result) {
    status = result;
    finished.store(1, std::memory_order_release);
  }

  std::atomic<std::uint64_t> finished = 0;  // release: pairs with the acquire of whoever reads the status
  Status status;
};

struct Stream::State {
  ~State() { stream->synchronize(Deadline::never()); }

  std::shared_ptr<device::HostStream> stream =
      std::make_shared<device::HostStream>(0, device::HostStream::Kind::non_blocking, 0);
};

}  // namespace tutti
