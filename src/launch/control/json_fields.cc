#include "launch/control/json_fields.h"

#include <fmt/format.h>

#include <limits>

namespace tutti::launch::control {

JsonFields::JsonFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) fail("is no object");
}

std::string JsonFields::text(const char* name) {
  const Json* field = find(name);
  if (field == nullptr) return {};
  if (field->is_string()) return field->get<std::string>();
  fail(fmt::format("has a '{}' that is no text", name));
  return {};
}

std::int64_t JsonFields::integer(const char* name, std::int64_t low, std::int64_t high) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Json* field = find(name);
  if (field == nullptr) return low;
  if (field->is_number_integer() && (!field->is_number_unsigned() || field->get<std::uint64_t>() <= kMax)) {
    const auto value = field->get<std::int64_t>();
    if (value >= low && value <= high) return value;
  }
  fail(fmt::format("has a '{}' that is no whole number from {} to {}", name, low, high));
  return low;
}

double JsonFields::real(const char* name, double low, double high) {
  const Json* field = find(name);
  if (field == nullptr) return low;
  if (field->is_number()) {
    const auto value = field->get<double>();
    if (value >= low && value <= high) return value;
  }
  fail(fmt::format("has a '{}' that is no number from {} to {}", name, low, high));
  return low;
}

const Json& JsonFields::array(const char* name) {
  static const Json kNothing = Json::array();
  const Json* field = find(name);
  if (field != nullptr && field->is_array()) return *field;
  if (field != nullptr) fail(fmt::format("has '{}' that are no array", name));
  return kNothing;
}

const Json& JsonFields::object(const char* name) {
  static const Json kNothing = Json::object();
  const Json* field = find(name);
  if (field != nullptr && field->is_object()) return *field;
  if (field != nullptr) fail(fmt::format("has a '{}' that is no object", name));
  return kNothing;
}

void JsonFields::fail(const std::string& what) {
  if (status_) status_ = invalid_argument(fmt::format("{} {}", where_, what));
}

const Json* JsonFields::find(const char* name) {
  if (has(name)) return &object_[name];
  fail(fmt::format("has no '{}'", name));
  return nullptr;
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace tutti::launch::control
