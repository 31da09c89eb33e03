// Windows: memory of a rank that other ranks of its communicator store to by themselves, and the signals that tell so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "comm/side.h"
#include "tutti/communicator.h"
#include "tutti/memory.h"
#include "tutti/status.h"

namespace tutti::nccl {

struct Window {
  void* buffer = nullptr;
  std::size_t bytes = 0;
  std::uint64_t number = 0;  // the how-manieth of its communicator; the same on every rank
};

// Which of the signals between two ranks.
struct SignalName {
  int index = 0;
  int context = 0;
};
inline constexpr int kSignalIndices = 16;
inline constexpr int kSignalContexts = 4;
Status validate_signal(const SignalName& name);

// What one rank knows of windows and signals. A mutex because programs use them from any thread.
class OneSided {
 public:
  explicit OneSided(comm::Side& side) : side_(side) {}

  // From now on others can find it. Windows are registered in the same order on every rank.
  Result<std::shared_ptr<Window>> add(void* buffer, std::size_t bytes);
  // The counter of signals from that rank to this one.
  Result<std::atomic<std::uint64_t>*> own_signal(Rank from, const SignalName& name);
  // How many signals calls of this rank have waited for so far, and `count` more from now on.
  std::uint64_t expect(Rank from, const SignalName& name, std::uint64_t count);

  // Where a part of another rank's window is, as seen from here. Waits until it is registered there.
  Result<std::byte*> find(Rank peer, const Window& window, std::size_t offset, std::size_t bytes, Deadline deadline);
  Result<std::atomic<std::uint64_t>*> signal_of(Rank peer, const SignalName& name, Deadline deadline);

 private:
  struct Place {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;
  };
  Result<Place> place_of(Rank peer, std::uint64_t number, Deadline deadline);
  Status offer_place(std::uint64_t number, const void* data, std::size_t bytes);
  Status make_signals();

  comm::Side& side_;
  std::mutex mutex_;
  std::uint64_t count_ = 0;  // of windows so far
  Memory signals_;           // that others raise; empty until somebody needs them
  std::map<std::pair<Rank, std::uint64_t>, Place> known_;
  std::map<std::tuple<Rank, int, int>, std::uint64_t> expected_;
};

}  // namespace tutti::nccl
