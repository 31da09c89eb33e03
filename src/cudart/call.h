// What every call of the facade has in common: it keeps its error for cudaGetLastError and, if asked for, logs it.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cudart/outcome.h"
#include "device/host/devices.h"

namespace tutti::cudart {

// Of this thread. Taking it makes it cudaSuccess.
cudaError_t last_error();
cudaError_t take_last_error();

// Whether failing calls are logged: TUTTI_CUDART_TRACE.
bool is_traced();

// The code of the outcome, kept and logged when it is a failure.
cudaError_t conclude(std::string_view function, const std::string& arguments, const Outcome& outcome);

template <class Value>
std::string text_of(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return fmt::format("{}", fmt::ptr(reinterpret_cast<const void*>(value)));
  else if constexpr (std::is_enum_v<Value>)
    return fmt::format("{}", static_cast<int>(value));
  else
    return fmt::format("{}", value);
}

template <class... Values>
std::string texts_of(Values... values) {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + text_of(values)), ...);
  return all;
}

// cudaErrorNoDevice where this process sees none.
Outcome check_any_device();

// Runs the body of a call. No exception leaves it: only the lack of memory can be its reason.
template <class Body, class... Arguments>
cudaError_t call_without_device(std::string_view function, Body&& body, Arguments... arguments) {
  Outcome outcome;
  try {
    outcome = body();
    if (outcome.is_ok()) return cudaSuccess;
    return conclude(function, is_traced() ? texts_of(arguments...) : std::string(), outcome);
  } catch (const std::bad_alloc&) {
    return conclude(function, {}, {cudaErrorMemoryAllocation, {}});
  } catch (const std::exception&) {
    return conclude(function, {}, {cudaErrorUnknown, {}});
  }
}

// The same for what needs a device, as nearly everything does.
template <class Body, class... Arguments>
cudaError_t call(std::string_view function, Body&& body, Arguments... arguments) {
  if (device::Devices::of_process().count() == 0) [[unlikely]]
    return call_without_device(function, check_any_device, arguments...);
  return call_without_device(function, std::forward<Body>(body), arguments...);
}

}  // namespace tutti::cudart
