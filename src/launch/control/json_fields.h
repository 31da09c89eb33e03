// Takes the fields of a JSON object that somebody else wrote, and remembers the first that is missing or wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tutti/status.h"

namespace tutti::launch::control {

using Json = nlohmann::ordered_json;

class JsonFields {
 public:
  JsonFields(const Json& object, std::string where);  // `object` outlives this

  bool has(const char* name) const { return object_.is_object() && object_.contains(name); }
  std::string text(const char* name);
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high);
  double real(const char* name, double low, double high);
  const Json& array(const char* name);
  const Json& object(const char* name);

  void fail(const std::string& what);  // "has no 'rank'"
  Status status() const { return status_; }

 private:
  const Json* find(const char* name);

  const Json& object_;
  std::string where_;
  Status status_;
};

// On one line. Words of a command line may be in any encoding: what is not UTF-8 is replaced.
std::string line_of(const Json& json);

}  // namespace tutti::launch::control
