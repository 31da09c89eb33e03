// Runs as JSON: the field names of nccl-tests where it has them, so that its readers keep working, and ours beside
// them. share/schemas/perf.schema.json describes what is written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/perf/results.h"
#include "tutti/status.h"

namespace tutti::perf {

nlohmann::ordered_json to_json(const Run& run);

// The same as text with one line per row, so that two files can be compared by eye. Always valid UTF-8.
std::string json_text(const Run& run);

// What json_text has written, or what nccl-tests has. A failure names the field and what stands there:
// results[3].out_of_place.time: expected a number, found "x".
Result<Run> parse_run(std::string_view text);

}  // namespace tutti::perf
