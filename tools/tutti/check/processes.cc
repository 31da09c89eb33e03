#include "tools/tutti/check/processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <span>

#include "base/text.h"
#include "device/host/heap.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/machine.h"
#include "os/remote_memory.h"
#include "os/small_file.h"
#include "tools/tutti/ranks.h"
#include "tutti/communicator.h"

namespace tutti::tool::check {

namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

// A child reads its parent, as ranks read each other: what a parent may do with its child says less.
Finding find_pulling() {
  static const std::array<std::byte, 16> mark = {std::byte{0x74}, std::byte{0x75}, std::byte{0x74}, std::byte{0x69}};
  const pid_t self = getpid();
  if (!os::can_read(self, mark.data(), mark)) {
    return {State::slower, "reading others", "process_vm_readv is not permitted at all, not even on this process",
            "containers: allow it in the seccomp profile; buffers from tutti::allocate need no permission"};
  }
  const RanksEnd end = run_ranks(1, [&](Rank) { return os::can_read(self, mark.data(), mark) ? 0 : 1; });
  if (end.status) return {.what = "reading others", .text = "process_vm_readv is permitted between processes"};
  const std::string scope = os::read_small_file("/proc/sys/kernel/yama/ptrace_scope").value_or("not there");
  return {State::slower, "reading others",
          fmt::format("process_vm_readv is permitted on this process only; ptrace_scope is {}", scope),
          "sysctl kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE for a container; buffers from tutti::allocate need no "
          "permission"};
}

Finding find_heap() {
  const auto heap = device::Heap::of_process();
  if (!heap) {
    return {State::missing, "shared memory", std::string(heap.status().text()),
            "threads (Communicator::create_local) need none"};
  }
  Finding finding{.what = "shared memory",
                  .text = fmt::format("a memfd of up to {} a process", text::bytes_text((*heap)->limit_bytes()))};
  const std::size_t half = os::this_machine().memory_bytes / 2;
  if ((*heap)->limit_bytes() < half && (*heap)->limit_bytes() < (std::size_t{512} << 30)) {
    finding.state = State::slower;
    finding.remedy = "less than the machine has: look at 'ulimit -v' and 'ulimit -f'";
  }
  return finding;
}

// One process sleeps on a word, the other changes the word and wakes it.
Finding find_futex() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return {State::missing, "sleeping", "cannot map a page that processes share", "ulimit -v"};
  auto* word = new (page) std::atomic<std::uint32_t>(0);
  const RanksEnd end = run_ranks(2, [word](Rank rank) {
    const Deadline deadline = Deadline::after(os::now(), kPatience);
    if (rank == 1) {
      word->store(1, std::memory_order_release);
      os::futex_wake_all(*word);
      return 0;
    }
    while (word->load(std::memory_order_acquire) == 0 && !deadline.has_passed(os::now())) {
      os::futex_wait(*word, 0, deadline);
    }
    return deadline.has_passed(os::now()) ? 1 : 0;
  });
  munmap(page, 4096);
  if (end.status) return {.what = "sleeping", .text = "processes wake each other by futex"};
  return {State::missing, "sleeping", "a futex does not wake another process",
          "look at the container's seccomp profile"};
}

// All of it together: two processes meet through a file and add up a number each.
Finding find_meeting() {
  const auto folder = PrivateFolder::create();
  if (!folder) return {State::missing, "processes", std::string(folder.status().text()), ""};
  const std::string store = fmt::format("file:{}/store", folder->path());
  const RanksEnd end = run_ranks(2, [&](Rank rank) {
    auto communicator = Communicator::create(
        {.rank = rank, .size = 2, .store = store, .start_timeout = kPatience, .timeout = kPatience});
    float value[] = {static_cast<float>(rank + 1)};
    Status status = communicator ? communicator->all_reduce(std::span<float>(value)) : communicator.status();
    if (status && value[0] != 3) status = Status(Code::internal, fmt::format("1 + 2 gave {}", value[0]));
    if (!status) fmt::print(stderr, "tutti check: rank {}: {}\n", rank, status.text());
    return status ? 0 : 1;
  });
  if (end.status) return {.what = "processes", .text = "two of them met and added up 1 and 2"};
  return {State::missing, "processes", "two of them could not add up 1 and 2", "the sentences above say why"};
}

}  // namespace tutti::tool::check
