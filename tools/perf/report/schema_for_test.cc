#include "tools/perf/report/schema_for_test.h"

#include <array>

namespace tutti::perf {

namespace {

using Json = nlohmann::json;

constexpr std::array kWords = {"$schema",    "title", "description",          "type",  "required",
                               "properties", "items", "additionalProperties", "$defs", "$ref"};

struct Walk {
  const Json& document;
  std::vector<std::string> faults;
};

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

bool has_any_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  for (const Json& type : types) {
    if (has_type(value, type.get<std::string>())) return true;
  }
  return false;
}

void check(Walk& walk, const Json& schema, const Json& value, const std::string& place);

void check_object(Walk& walk, const Json& schema, const Json& value, const std::string& place) {
  const Json properties = schema.value("properties", Json::object());
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) {
      walk.faults.push_back(place + ": " + name.get<std::string>() + " is missing");
    }
  }
  for (const auto& [name, field] : value.items()) {
    if (properties.contains(name)) {
      check(walk, properties[name], field, place + "." + name);
    } else if (!schema.value("additionalProperties", true)) {
      walk.faults.push_back(place + ": " + name + " is not expected");
    }
  }
}

void check(Walk& walk, const Json& schema, const Json& value, const std::string& place) {
  for (const auto& [word, unused] : schema.items()) {
    if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) {
      walk.faults.push_back("the schema has the unknown word " + word);
    }
  }
  if (schema.contains("$ref")) {
    const std::string reference = schema["$ref"];
    check(walk, walk.document.at(Json::json_pointer(reference.substr(1))), value, place);
  }
  if (schema.contains("type") && !has_any_type(value, schema["type"])) {
    walk.faults.push_back(place + ": is a " + value.type_name());
    return;
  }
  if (value.is_object()) check_object(walk, schema, value, place);
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      check(walk, schema["items"], value[i], place + "[" + std::to_string(i) + "]");
    }
  }
}

}  // namespace

std::vector<std::string> schema_faults(const Json& schema, const Json& value) {
  Walk walk{schema, {}};
  check(walk, schema, value, "");
  return walk.faults;
}

}  // namespace tutti::perf
