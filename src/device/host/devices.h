// The virtual devices of this process: how many there are, which one a thread uses, and the streams that a program has.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/host/stream.h"
#include "tutti/status.h"

namespace tutti::device {

// A mutex because programs make and find streams from any thread.
class Devices {
 public:
  static constexpr int kCountMax = 1024;

  // Made at the first use, as TUTTI_VIRTUAL_DEVICES and CUDA_VISIBLE_DEVICES say then; stays until the process ends.
  static Devices& of_process();

  int count() const { return count_; }  // 0: all are hidden
  // Fails where all are hidden, which is nothing that a program can mend.
  Status check_any() const;
  // Of a device of this process: which one of the machine it is, and back; -1: this process does not see it.
  int number_of(int device) const { return numbers_[static_cast<std::size_t>(device)]; }
  int find_number(int number) const;
  int current() const;  // of this thread; 0 at first
  Status set_current(int device);
  // Never given to another thread, unlike the numbers of the system.
  static std::uint64_t thread_number();

  // A handle is what C programs hold: nullptr and kLegacy are the default stream of the current device, kPerThread the
  // one that this thread has on it. Others are numbers that are never given twice: a destroyed stream is known as such.
  using Handle = const void*;
  static inline const Handle kLegacy = reinterpret_cast<Handle>(std::uintptr_t{1});
  static inline const Handle kPerThread = reinterpret_cast<Handle>(std::uintptr_t{2});

  Handle create_stream(int device, HostStream::Kind kind, int priority);
  // What is on it still runs. False: there is no such stream.
  bool destroy_stream(Handle handle);
  void destroy_streams_of(int device);
  // nullptr: there is no such stream.
  std::shared_ptr<HostStream> find_stream(Handle handle) { return find_stream(handle, current()); }
  // The same with the default streams of another device than the current one.
  std::shared_ptr<HostStream> find_stream(Handle handle, int device);
  // Whether nothing is on it, captured from it or to be told of it. False also where that would have to be looked up.
  bool is_known_to_rest(Handle handle) const;
  // Every stream of a device that something was added to, default streams too.
  std::vector<std::shared_ptr<HostStream>> streams_of(int device);
  // The streams in whose order a task on this one stands: the default stream waits for all blocking ones of its device.
  std::vector<std::shared_ptr<HostStream>> order_of(const std::shared_ptr<HostStream>& stream);

 private:
  explicit Devices(std::vector<int> numbers);
  std::shared_ptr<HostStream> default_stream(Handle handle, int number);
  std::shared_ptr<HostStream> new_blocking_stream(int device, int priority);
  void forget_thread(std::uint64_t number);
  void bury(const std::shared_ptr<HostStream>& stream);

  struct ThreadEnd;

  static constexpr std::uintptr_t kHandleStep = 16;

  const std::vector<int> numbers_;
  const int count_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> version_ = 0;                // grows when streams are destroyed
  std::uintptr_t next_handle_ = std::uintptr_t{1} << 32;  // nothing else looks like it
  std::unordered_map<Handle, std::shared_ptr<HostStream>> streams_;
  std::vector<std::shared_ptr<HostStream>> legacy_;                            // by device
  std::map<std::uint64_t, std::vector<std::shared_ptr<HostStream>>> threads_;  // by thread, then by device
  std::vector<std::weak_ptr<HostStream>> destroyed_;                           // on which something may still run
};

}  // namespace tutti::device
