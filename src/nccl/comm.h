// What an ncclComm_t stands for: one rank's side of a communicator, the device it uses, and what became of its calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nccl.h>
#include "comm/bundle.h"
#include "comm/recall.h"
#include "comm/side.h"
#include "nccl/config.h"
#include "tutti/status.h"

namespace tutti::nccl {

// A reduction in the program's own code.
struct MadeOperation {
  std::string name;
  CustomOperation custom;  // refers to the name
};

// An operation that a program has made for a communicator: a sum of products with a scalar, or its own.
struct ProgramOperation {
  ncclDataType_t type = ncclFloat32;
  std::optional<double> factor = {};  // nothing: it lies at `scalar` and is read when the collective runs
  const void* scalar = nullptr;
  std::shared_ptr<const MadeOperation> custom = {};  // shared with calls that use it
};

// Memory that a program has named.
struct Registration {
  void* buffer = nullptr;
  std::size_t bytes = 0;
};

struct Window;
class OneSided;

}  // namespace tutti::nccl

// A mutex because any thread may ask how a communicator is.
struct ncclComm final : tutti::comm::CallEnding {
  enum class State : std::uint8_t {
    starting,   // somebody makes it
    ready,      // side is there
    failed,     // it did not come about, or its last operation failed; `failure` says why
    finalized,  // takes no more calls
    revoked,    // likewise, and has ended those that ran
  };

  std::atomic<State> state = State::starting;  // release: pairs with the acquire of whoever uses the side
  int device = 0;
  int rank = 0;
  int size = 1;
  tutti::nccl::Config config;
  std::shared_ptr<tutti::comm::Side> side;

  tutti::comm::Recall recall;  // of its start
  bool has_parent = false;     // its start is a call of another communicator

  std::atomic<std::uint64_t> submitted = 0;
  std::atomic<std::uint64_t> completed = 0;
  std::atomic<int> makings = 0;  // communicators that are being made from it
  std::atomic<bool> is_suspended = false;
  std::atomic<std::chrono::nanoseconds> call_timeout = std::chrono::nanoseconds(0);  // 0: as the environment says

  std::mutex mutex;
  tutti::Status failure;                                    // the first of a call, or of making it
  std::map<int, tutti::nccl::ProgramOperation> operations;  // by number
  int operation_count = 0;
  // How often each set of ranks has shrunk it: others need not know of it, so nobody can count all.
  std::map<std::vector<tutti::Rank>, std::uint64_t> shrinks;
  std::map<const void*, std::unique_ptr<tutti::nccl::Registration>> registrations;  // by handle
  std::map<const void*, std::shared_ptr<tutti::nccl::Window>> windows;              // likewise
  std::shared_ptr<tutti::nccl::OneSided> one_sided;                                 // made at the first use

  void ended(const tutti::Status& status, tutti::device::HostStream& stream) override;
  void fail(const tutti::Status& why);
  // What calls on it return now: success, or why they cannot.
  tutti::Status readiness() const;
  tutti::Status first_failure();
  // Until all that was submitted has ended, or for so long.
  bool settle(std::chrono::nanoseconds timeout);
};

namespace tutti::nccl {

using CommRef = std::shared_ptr<ncclComm>;

// From now on the handle is known.
ncclComm_t publish(CommRef comm);
// Fails for what is no communicator, or no longer one.
Result<CommRef> find(ncclComm_t handle);
// From now on it is not. Nothing: it was not before.
CommRef withdraw(ncclComm_t handle);

}  // namespace tutti::nccl
