#include "os/halted_thread.h"

#include <elf.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "os/clock.h"
#include "os/error_text.h"
#include "os/relax.h"
#include "os/thread.h"

namespace tutti::os {

namespace {

// Deep enough for hundreds of frames.
constexpr std::size_t kStackBytesMax = 256 << 10;
constexpr std::size_t kStackPieceBytes = 4096;
constexpr std::size_t kRegistersMax = 64;
constexpr std::size_t kOnlookerStackBytes = 64 << 10;

// The headers are those that Linux has for one architecture only.
#if __has_include(<asm/ldt.h>)  // x86
void set_registers(const user_regs_struct& now, HaltedThread& thread) {
  thread.registers = {now.rax, now.rdx, now.rcx, now.rbx, now.rsi, now.rdi, now.rbp, now.rsp,
                      now.r8,  now.r9,  now.r10, now.r11, now.r12, now.r13, now.r14, now.r15};
  thread.program_counter = now.rip;
  thread.stack_pointer = now.rsp;
  thread.frame_pointer = now.rbp;
}
#elif __has_include(<asm/sve_context.h>)  // AArch64
void set_registers(const user_regs_struct& now, HaltedThread& thread) {
  thread.registers.assign(std::begin(now.regs), std::end(now.regs));
  thread.registers.push_back(now.sp);
  thread.program_counter = now.pc;
  thread.stack_pointer = now.sp;
  thread.frame_pointer = now.regs[29];
}
#else
void set_registers(const user_regs_struct&, HaltedThread&) {}
#endif

// What went wrong, to be put into words later: while a thread of this very process is halted, nothing may be allocated,
// since it may hold the lock that allocating takes.
struct Failure {
  const char* what = nullptr;  // nullptr: nothing went wrong
  int error = 0;

  Status status(pid_t thread) const {
    if (what == nullptr) return {};
    return {Code::unsupported, fmt::format("cannot {} process {}: {}", what, thread, error_text(error))};
  }
};

// A thread that is traced by seizing it. Only a halted thread can be let go of; of others the kernel lets go when the
// thread that traces them ends, which therefore must be a short-lived one.
class Tracer {
 public:
  explicit Tracer(pid_t thread) : thread_(thread) {}
  Tracer(const Tracer&) = delete;
  ~Tracer() {
    if (is_halted_) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }

  Failure halt(Deadline deadline) {
    if (ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0) return {"trace", errno};
    if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return {"interrupt", errno};
    while (!deadline.has_passed(now())) {
      // Only for stops: if it is a child of this process, its end is for others to wait for.
      siginfo_t change{};
      const int failed = waitid(P_PID, static_cast<id_t>(thread_), &change, WSTOPPED | WNOHANG | __WALL);
      if (failed != 0 && errno != EINTR) return {"halt", errno};
      is_halted_ = failed == 0 && change.si_pid == thread_;
      if (is_halted_) return {};
      yield_core();
    }
    return {"halt", ETIMEDOUT};  // it sleeps in the kernel where nothing wakes it, or has ended
  }

  Failure read(HaltedThread& thread) const {
    user_regs_struct registers{};
    iovec area{.iov_base = &registers, .iov_len = sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &area) != 0) return {"read the registers of", errno};
    set_registers(registers, thread);
    return {};
  }

 private:
  pid_t thread_;
  bool is_halted_ = false;
};

// Piece by piece: the end of the stack is where reading fails.
void copy_stack(pid_t thread, HaltedThread& copy, Deadline deadline) {
  while (copy.stack.size() + kStackPieceBytes <= kStackBytesMax && !deadline.has_passed(now())) {
    const std::uint64_t from = copy.stack_pointer + copy.stack.size();
    const std::size_t bytes = kStackPieceBytes - from % kStackPieceBytes;
    const std::size_t had = copy.stack.size();
    copy.stack.resize(had + bytes);
    const iovec here{.iov_base = copy.stack.data() + had, .iov_len = bytes};
    const iovec there{.iov_base = reinterpret_cast<void*>(from), .iov_len = bytes};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes)) continue;
    copy.stack.resize(had);
    return;
  }
}

// Room for all that is copied, so that nothing is allocated meanwhile.
HaltedThread empty_copy() {
  HaltedThread copy;
  copy.registers.reserve(kRegistersMax);
  copy.stack.reserve(kStackBytesMax);
  return copy;
}

Failure copy_into(HaltedThread& copy, pid_t thread, Deadline deadline) {
  Tracer tracer(thread);
  if (const Failure failure = tracer.halt(deadline); failure.what != nullptr) return failure;
  if (const Failure failure = tracer.read(copy); failure.what != nullptr) return failure;
  copy_stack(thread, copy, deadline);
  return {};
}

// A process of its own that has the memory of this one: the kernel lets no thread trace another one of its process.
// The thread that makes it sleeps until it ends, so it may use all that is that thread's.
struct Onlooker {
  pid_t thread = 0;
  Deadline deadline;
  HaltedThread copy = empty_copy();
  Failure failure = {};
  std::atomic<pid_t> pid{0};  // -1: it could not be made
  std::atomic<bool> is_allowed{false};

  static int look(void* self) {
    auto& onlooker = *static_cast<Onlooker*>(self);
    onlooker.pid = getpid();
    while (!onlooker.is_allowed && !onlooker.deadline.has_passed(now())) yield_core();
    onlooker.failure = copy_into(onlooker.copy, onlooker.thread, onlooker.deadline);
    return 0;
  }

  void make() {
    alignas(16) std::array<std::byte, kOnlookerStackBytes> stack;
    // No signal at its end and not a child that wait() finds: the program shall not notice it.
    const pid_t made = clone(look, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, this);
    if (made > 0) {
      while (waitpid(made, nullptr, __WCLONE) < 0 && errno == EINTR) {
      }
      return;
    }
    failure = {"look at", errno};
    pid = -1;
  }
};

}  // namespace

Result<HaltedThread> copy_thread(pid_t thread, std::chrono::nanoseconds limit) {
  const Deadline deadline = Deadline::after(now(), limit);
  HaltedThread copy = empty_copy();
  Failure failure;
  {
    TUTTI_ASSIGN(const auto tracing, Thread::start("tutti-look", [&] { failure = copy_into(copy, thread, deadline); }));
  }
  TUTTI_TRY(failure.status(thread));
  return copy;
}

Result<HaltedThread> copy_main_thread(std::chrono::nanoseconds limit) {
  Onlooker onlooker{.thread = getpid(), .deadline = Deadline::after(now(), limit)};
  {
    TUTTI_ASSIGN(const auto maker, Thread::start("tutti-look", [&] { onlooker.make(); }));
    while (onlooker.pid == 0) yield_core();
    // Where the kernel lets only parents trace, this process may still name somebody else.
    if (onlooker.pid > 0) prctl(PR_SET_PTRACER, onlooker.pid.load(), 0, 0, 0);
    onlooker.is_allowed = true;
  }
  prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  TUTTI_TRY(onlooker.failure.status(onlooker.thread));
  return std::move(onlooker.copy);
}

}  // namespace tutti::os
