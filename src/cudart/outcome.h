// How functions of this folder end: with the code that CUDA documents and the reason in words.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <utility>

#include "tutti/status.h"

namespace tutti::cudart {

struct [[nodiscard]] Outcome {
  cudaError_t code = cudaSuccess;
  std::string reason = {};  // for people; of failures only

  bool is_ok() const { return code == cudaSuccess; }
};

inline Outcome invalid_value(std::string reason) { return {cudaErrorInvalidValue, std::move(reason)}; }
// A failure of device or os, in the words of CUDA.
Outcome outcome_of(const Status& status);

}  // namespace tutti::cudart

// Returns from the enclosing function when the expression is a failure.
#define TUTTI_CUDART_TRY(expression)                                                                         \
  do {                                                                                                       \
    if (::tutti::cudart::Outcome tutti_outcome = (expression); !tutti_outcome.is_ok()) return tutti_outcome; \
  } while (false)
