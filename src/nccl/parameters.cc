// Parameters of the NCCL interface: the variables of the environment, by name.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.h"
#include "nccl/environment_table.h"
#include "nccl/result.h"
#include "os/environment.h"

// What a handle stands for; made once for each name.
struct ncclParamHandle {
  std::string key;
  std::string value;  // of the last question
};

namespace tutti::nccl {
namespace {

// A mutex because programs ask from any thread.
struct Parameters {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<ncclParamHandle>, std::less<>> handles;
  std::vector<const char*> keys;
};

Parameters& parameters() {
  // Never destroyed: a program may keep what it was told until its end.
  static Parameters& all = *new Parameters;
  return all;
}

bool is_known(std::string_view key) {
  for (const Variable& variable : variables())
    if (variable.name == key) return true;
  return false;
}

Result<ncclParamHandle*> handle_of(const char* key) {
  if (key == nullptr) return invalid_argument("the name of the parameter is NULL");
  std::string name = key;
  if (!name.starts_with("NCCL_")) name = "NCCL_" + name;
  if (!is_known(name)) return invalid_argument(fmt::format("{} is no parameter; tutti env --nccl lists them", name));
  const std::lock_guard lock(parameters().mutex);
  auto& handle = parameters().handles[name];
  if (handle == nullptr) handle = std::make_unique<ncclParamHandle>(ncclParamHandle{name, ""});
  return handle.get();
}

// As it is set now.
Result<std::string> value_of(ncclParamHandle* handle) {
  if (handle == nullptr) return invalid_argument("the handle is NULL; get one by ncclParamBind");
  return os::environment_variable(handle->key).value_or("");
}

template <class Integer>
ncclResult_t number(std::string_view call, ncclParamHandle_t handle, Integer* out) {
  return answer(call, [&]() -> Status {
    if (out == nullptr) return invalid_argument("the place for the value is NULL");
    TUTTI_ASSIGN(const std::string value, value_of(handle));
    if (value.empty())
      return {Code::invalid_usage, fmt::format("{} is not set and has no value of its own", handle->key)};
    const auto parsed = text::integer_of<Integer>(value);
    if (!parsed)
      return invalid_argument(fmt::format("{} is '{}', which is no whole number from {} to {}", handle->key, value,
                                          +std::numeric_limits<Integer>::min(), +std::numeric_limits<Integer>::max()));
    *out = *parsed;
    return {};
  });
}

}  // namespace
}  // namespace tutti::nccl

using namespace tutti::nccl;
using tutti::Status;

TUTTI_NCCL_DEFINE(ParamBind, (ncclParamHandle_t * out, const char* key)) {
  return answer("ncclParamBind", [&]() -> Status {
    if (out == nullptr) return tutti::invalid_argument("the place for the handle is NULL");
    TUTTI_ASSIGN(*out, handle_of(key));
    return {};
  });
}

TUTTI_NCCL_DEFINE(ParamGetI8, (ncclParamHandle_t h, int8_t* out)) { return number("ncclParamGetI8", h, out); }
TUTTI_NCCL_DEFINE(ParamGetI16, (ncclParamHandle_t h, int16_t* out)) { return number("ncclParamGetI16", h, out); }
TUTTI_NCCL_DEFINE(ParamGetI32, (ncclParamHandle_t h, int32_t* out)) { return number("ncclParamGetI32", h, out); }
TUTTI_NCCL_DEFINE(ParamGetI64, (ncclParamHandle_t h, int64_t* out)) { return number("ncclParamGetI64", h, out); }
TUTTI_NCCL_DEFINE(ParamGetU8, (ncclParamHandle_t h, uint8_t* out)) { return number("ncclParamGetU8", h, out); }
TUTTI_NCCL_DEFINE(ParamGetU16, (ncclParamHandle_t h, uint16_t* out)) { return number("ncclParamGetU16", h, out); }
TUTTI_NCCL_DEFINE(ParamGetU32, (ncclParamHandle_t h, uint32_t* out)) { return number("ncclParamGetU32", h, out); }
TUTTI_NCCL_DEFINE(ParamGetU64, (ncclParamHandle_t h, uint64_t* out)) { return number("ncclParamGetU64", h, out); }

// Valid until the next question about the same parameter.
TUTTI_NCCL_DEFINE(ParamGetStr, (ncclParamHandle_t h, const char** out)) {
  return answer("ncclParamGetStr", [&]() -> Status {
    if (out == nullptr) return tutti::invalid_argument("the place for the value is NULL");
    TUTTI_ASSIGN(const std::string value, value_of(h));
    const std::lock_guard lock(parameters().mutex);
    h->value = value;
    *out = h->value.c_str();
    return {};
  });
}

TUTTI_NCCL_DEFINE(ParamGet, (ncclParamHandle_t h, void* out, int maxLen, int* len)) {
  return answer("ncclParamGet", [&]() -> Status {
    if (out == nullptr || maxLen < 1) return tutti::invalid_argument("there is no place for the value");
    TUTTI_ASSIGN(const std::string value, value_of(h));
    if (value.size() >= static_cast<std::size_t>(maxLen))
      return tutti::invalid_argument(
          fmt::format("{} has {} characters, and the place for it {}", h->key, value.size() + 1, maxLen));
    std::memcpy(out, value.c_str(), value.size() + 1);
    if (len != nullptr) *len = static_cast<int>(value.size());
    return {};
  });
}

TUTTI_NCCL_DEFINE(ParamGetParameter, (const char* key, const char** value, int* valueLen)) {
  return answer("ncclParamGetParameter", [&]() -> Status {
    if (value == nullptr) return tutti::invalid_argument("the place for the value is NULL");
    TUTTI_ASSIGN(ncclParamHandle* const handle, handle_of(key));
    TUTTI_ASSIGN(const std::string now, value_of(handle));
    const std::lock_guard lock(parameters().mutex);
    handle->value = now;
    *value = handle->value.c_str();
    if (valueLen != nullptr) *valueLen = static_cast<int>(now.size());
    return {};
  });
}

TUTTI_NCCL_DEFINE(ParamGetAllParameterKeys, (const char*** table, int* tableLen)) {
  return answer("ncclParamGetAllParameterKeys", [&]() -> Status {
    if (table == nullptr || tableLen == nullptr) return tutti::invalid_argument("the place for the table is NULL");
    const std::lock_guard lock(parameters().mutex);
    auto& keys = parameters().keys;
    if (keys.empty())
      for (const Variable& variable : variables()) keys.push_back(variable.name.data());  // they are literals
    *table = keys.data();
    *tableLen = static_cast<int>(keys.size());
    return {};
  });
}

extern "C" __attribute__((visibility("default"))) void pncclParamDumpAll() {
  for (const Variable& variable : variables()) {
    const auto value = tutti::os::environment_variable(variable.name);
    if (value) std::printf("%s=%s\n", std::string(variable.name).c_str(), value->c_str());
  }
}
extern "C" __attribute__((visibility("default"))) void ncclParamDumpAll()
    __attribute__((weak, alias("pncclParamDumpAll")));
