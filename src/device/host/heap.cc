#include "device/host/heap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/assert.h"
#include "base/text.h"
#include "os/error_text.h"
#include "os/machine.h"

namespace tutti::device {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Giving back less costs more than it gains.
constexpr std::size_t kReleaseBytesMin = 65536;
// 128 processes map each other's heaps within the 47 bits of an address space.
constexpr std::size_t kLimitMax = std::size_t{512} << 30;
constexpr std::size_t kLimitWanted = std::size_t{1} << 30;
constexpr std::size_t kLimitMin = std::size_t{64} << 20;

std::mutex& creation_mutex() {
  static std::mutex mutex;
  return mutex;
}

// The process that this one was forked from when that had a heap; 0: none.
std::atomic<pid_t> parent_with_heap = 0;
std::atomic<pid_t> heap_owner = 0;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Pages are not shared between pieces from a page up, so that they can be given back.
std::size_t taken_bytes(std::size_t bytes) { return round_up(bytes, bytes < kPage ? kLine : kPage); }

std::size_t alignment_of(std::size_t bytes) {
  if (bytes < kPage) return kLine;
  return bytes < kHugePage ? kPage : kHugePage;
}

Result<os::Segment> create_segment() {
  const std::size_t memory = os::this_machine().memory_bytes / kHugePage * kHugePage;
  std::size_t bytes = std::clamp(memory, kLimitWanted, kLimitMax);
  auto segment = os::Segment::create("tutti-heap", bytes);
  while (!segment && bytes > kLimitMin) {
    bytes = std::max(bytes / 2 / kHugePage * kHugePage, kLimitMin);
    segment = os::Segment::create("tutti-heap", bytes);
  }
  return segment;
}

Status hold_record_lock(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (fcntl(fd, F_SETLK, &lock) == 0) return {};
  return {Code::unsupported, fmt::format("cannot lock the shared heap, by which peers see that this process lives: {}",
                                         os::error_text(errno))};
}

}  // namespace

std::atomic<Heap*> Heap::existing_ = nullptr;

Result<Heap*> Heap::of_process() {
  if (Heap* const heap = existing_.load(std::memory_order_acquire)) return heap;
  if (const pid_t parent = parent_with_heap; parent != 0) {
    return Status(Code::invalid_usage,
                  fmt::format("process {} was forked from process {}, which already had shared memory of Tutti; fork "
                              "before the first use of Tutti, or start the process anew (exec, or multiprocessing "
                              "with 'spawn')",
                              getpid(), parent),
                  Scope::process);
  }
  static const int watching = watch_forks();
  if (watching != 0) return Status(Code::out_of_memory, "no memory for what the shared heap does in a fork");
  const std::lock_guard lock(creation_mutex());
  if (Heap* const heap = existing_.load(std::memory_order_acquire)) return heap;
  return create();
}

// The mutex is held over a fork, so that the child gets it unlocked.
int Heap::watch_forks() {
  return pthread_atfork([] { creation_mutex().lock(); }, [] { creation_mutex().unlock(); },
                        [] {
                          if (existing_.exchange(nullptr) != nullptr) parent_with_heap = heap_owner.load();
                          creation_mutex().unlock();
                        });
}

Result<Heap*> Heap::create() {
  TUTTI_ASSIGN(os::Segment segment, create_segment());
  TUTTI_TRY(hold_record_lock(segment.fd()));
  heap_owner = getpid();
  // Never destroyed: memory of static objects may be freed after everything else.
  existing_.store(std::unique_ptr<Heap>(new Heap(std::move(segment))).release(), std::memory_order_release);
  return existing_.load(std::memory_order_acquire);
}

Result<std::span<std::byte>> Heap::allocate(std::size_t bytes) {
  if (bytes == 0) return std::span<std::byte>();
  std::optional<std::uint64_t> offset;
  std::size_t free_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    // Checked first: rounding up must not run over.
    if (bytes <= limit_bytes()) offset = free_.take(taken_bytes(bytes), alignment_of(bytes));
    free_bytes = free_.largest_bytes();
  }
  if (!offset) {
    return Status(Code::out_of_memory,
                  fmt::format("no {} of shared memory left: the heap has {}, the largest free piece is {}",
                              text::bytes_text(bytes), text::bytes_text(limit_bytes()), text::bytes_text(free_bytes)));
  }
  std::byte* const data = base() + *offset;
  if (bytes >= kHugePage) madvise(data, taken_bytes(bytes), MADV_HUGEPAGE);
  return std::span(data, bytes);
}

void Heap::free(std::span<std::byte> piece) {
  // In a forked child the memory is its parent's, which goes on using it.
  if (piece.empty() || existing() != this) return;
  const auto offset = offset_of(piece.data(), piece.size());
  TUTTI_ASSERT(offset, "only pieces of the heap are freed");
  const std::size_t bytes = taken_bytes(piece.size());
  if (bytes < kReleaseBytesMin || !segment_.release_pages(*offset, bytes)) std::memset(piece.data(), 0, bytes);
  const std::lock_guard lock(mutex_);
  free_.give(*offset, bytes);
}

std::size_t Heap::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return limit_bytes() - free_.free_bytes();
}

}  // namespace tutti::device
