#include "cudart/call.h"

#include <utility>

#include "base/knobs.h"
#include "base/log.h"
#include "os/environment.h"
#include "os/log_sink.h"

namespace tutti::cudart {
namespace {

thread_local cudaError_t kept_error = cudaSuccess;

// Read once. The log must go somewhere although no communicator has been made that would install it.
bool read_trace() {
  const auto knobs = Knobs::read(os::environment_variable);
  if (!knobs || !knobs->cudart_trace()) return false;
  return log::is_on(LogLevel::error) || os::install_log(*knobs).is_ok();
}

}  // namespace

cudaError_t last_error() { return kept_error; }

cudaError_t take_last_error() { return std::exchange(kept_error, cudaSuccess); }

bool is_traced() {
  static const bool is_on = read_trace();
  return is_on;
}

cudaError_t conclude(std::string_view function, const std::string& arguments, const Outcome& outcome) {
  kept_error = outcome.code;
  // A question about work that goes on has an answer, not a failure.
  if (outcome.code != cudaErrorNotReady && is_traced())
    log::write(LogLevel::error, kNoRank, [&] {
      return fmt::format("{}({}): {}: {}", function, arguments, cudaGetErrorName(outcome.code),
                         outcome.reason.empty() ? cudaGetErrorString(outcome.code) : outcome.reason);
    });
  return outcome.code;
}

Outcome check_any_device() {
  const Status status = device::Devices::of_process().check_any();
  return status ? Outcome() : Outcome{cudaErrorNoDevice, std::string(status.text())};
}

Outcome outcome_of(const Status& status) {
  switch (status.code()) {
    case Code::ok: return {};
    case Code::invalid_argument: return invalid_value(std::string(status.text()));
    case Code::out_of_memory: return {cudaErrorMemoryAllocation, std::string(status.text())};
    case Code::invalid_usage:
    case Code::unsupported: return {cudaErrorInitializationError, std::string(status.text())};
    case Code::timed_out:
    case Code::aborted:
    case Code::peer_lost:
    case Code::network:
    case Code::device:
    case Code::internal: return {cudaErrorLaunchFailure, std::string(status.text())};
  }
  return {cudaErrorUnknown, std::string(status.text())};
}

}  // namespace tutti::cudart
