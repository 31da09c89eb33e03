// How statuses become results of the NCCL interface, and where the sentences go that results cannot carry.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <nccl.h>
#include "tutti/status.h"

namespace tutti::nccl {

ncclResult_t result_of(Code code);

// The result of a call that failed with this; the sentence is kept for ncclGetLastError, and logged.
ncclResult_t refuse(std::string_view call, const Status& why);

// What the last call of this thread that failed has said; empty: none did. Valid until the next one fails.
const char* last_sentence();

// Runs the body of a C function: no exception leaves it.
template <class Body>
ncclResult_t answer(std::string_view call, Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    if (status) [[likely]]
      return ncclSuccess;
    return refuse(call, status);
  } catch (const std::exception& problem) {
    return refuse(call, Status(Code::out_of_memory, problem.what(), Scope::call));
  }
}

}  // namespace tutti::nccl

// A function of the C interface under both its names; the one without a p is weak, as NCCL has it, so that a library in
// between can take it over.
#define TUTTI_NCCL_DEFINE(name, parameters)                                            \
  extern "C" __attribute__((visibility("default"))) ncclResult_t nccl##name parameters \
      __attribute__((weak, alias("pnccl" #name)));                                     \
  extern "C" __attribute__((visibility("default"))) ncclResult_t pnccl##name parameters
