#include "os/halted_thread.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <array>
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

// A thread that is traced by seizing it. Only a halted thread can be let go of; of others the kernel lets go when the
// thread that traces them ends, which therefore must be a short-lived one.
class Tracer {
 public:
  explicit Tracer(pid_t thread) : thread_(thread) {}
  Tracer(const Tracer&) = delete;
  ~Tracer() {
    if (is_halted_) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }

  Status halt(Deadline deadline) {
    if (ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0) return failure("trace", errno);
    if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return failure("interrupt", errno);
    while (!deadline.has_passed(now())) {
      // Only for stops: if it is a child of this process, its end is for others to wait for.
      siginfo_t change{};
      const int failed = waitid(P_PID, static_cast<id_t>(thread_), &change, WSTOPPED | WNOHANG | __WALL);
      if (failed != 0 && errno != EINTR) return failure("halt", errno);
      is_halted_ = failed == 0 && change.si_pid == thread_;
      if (is_halted_) return {};
      yield_core();
    }
    return failure("halt", ETIMEDOUT);  // it sleeps in the kernel where nothing wakes it, or has ended
  }

  Status read(HaltedThread& thread) const {
    user_regs_struct registers{};
    iovec area{.iov_base = &registers, .iov_len = sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &area) != 0) return failure("read the registers of", errno);
    set_registers(registers, thread);
    return {};
  }

 private:
  Status failure(std::string_view what, int error) const {
    return {Code::unsupported, fmt::format("cannot {} process {}: {}", what, thread_, error_text(error))};
  }

  pid_t thread_;
  bool is_halted_ = false;
};

// Piece by piece: the end of the stack is where reading fails.
void copy_stack(pid_t thread, HaltedThread& copy, Deadline deadline) {
  while (copy.stack.size() < kStackBytesMax && !deadline.has_passed(now())) {
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

}  // namespace

Result<HaltedThread> copy_thread(pid_t thread, std::chrono::nanoseconds limit) {
  const Deadline deadline = Deadline::after(now(), limit);
  HaltedThread copy;
  Status result;
  {
    TUTTI_ASSIGN(const auto tracing, Thread::start("tutti-look", [&] {
                   Tracer tracer(thread);
                   result = tracer.halt(deadline);
                   if (result) result = tracer.read(copy);
                   if (result) copy_stack(thread, copy, deadline);
                 }));
  }
  TUTTI_TRY(result);
  return copy;
}

}  // namespace tutti::os
