// What is asked of a communicator: one collective as a value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/element.h"
#include "tutti/plan.h"
#include "tutti/types.h"

namespace tutti {

// An operation that a program defines: value[i] = value[i] (+) operand[i] for `count` elements. It must be associative;
// the order of operands is that of the plan, which is the same on every run. Called on the threads that run
// collectives, several at a time; it must not call back into the communicator. Elements need no alignment: copy them
// out and in.
struct CustomOperation {
  std::string_view name;      // the same on every rank: it is compared like the type and the count
  std::size_t element_bytes;  // of any trivially copyable type
  void (*combine)(void* value, const void* operand, std::size_t count, void* context);
  void* context = nullptr;
};

// How contributions are added up.
struct Reduction {
  Op op = Op::sum;
  double factor = 1;                        // of a scaled sum: what this rank's input is multiplied by
  const CustomOperation* custom = nullptr;  // instead of op; must live until the call has ended

  Reduction() = default;
  Reduction(Op operation) : op(operation) {}                           // NOLINT: meant to convert
  Reduction(const CustomOperation& operation) : custom(&operation) {}  // NOLINT: meant to convert
  static Reduction scaled(double factor) {
    Reduction reduction(Op::scaled_sum);
    reduction.factor = factor;
    return reduction;
  }
};

// `count` counts elements as the collective does: of the whole vector in all_reduce, broadcast and reduce, of one
// rank's block in all_gather, reduce_scatter, gather and scatter, of what goes from one rank to one other in
// all_to_all, of the message in send_receive. In place: in and out are the same memory, where in[c] and out[c] of a
// chunk are one place (all_gather: a rank's input is its block of the output; reduce_scatter: its output is its block
// of the input).
struct Call {
  plan::Collective collective = plan::Collective::all_reduce;
  const void* in = nullptr;  // unused where the rank gives nothing
  void* out = nullptr;       // unused where it gets nothing
  std::uint64_t count = 0;
  DataType type = DataType::float32;
  Reduction reduction = {};
  Rank root = 0;  // of rooted collectives; the sender of send_receive
  Rank peer = 0;  // the receiver of send_receive
  // Variable-count form: elements of each rank's block, the same on every rank; for all_to_all counts[i * ranks + j] is
  // what rank i sends to rank j. Must live until the call has ended. Empty: `count` for all.
  std::span<const std::uint64_t> counts = {};
  // How long the call may wait for others; zero: the communicator's timeout.
  std::chrono::nanoseconds timeout = {};
};

}  // namespace tutti
