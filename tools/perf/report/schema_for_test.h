// The part of JSON Schema that share/schemas uses: type, required, properties, additionalProperties, items and $ref.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tutti::perf {

// What of the value is not as the schema wants it, each with its place: ".results[3].size: is a string".
// A word of the schema that this does not know is a fault too, so that nothing is believed to be checked.
std::vector<std::string> schema_faults(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace tutti::perf
