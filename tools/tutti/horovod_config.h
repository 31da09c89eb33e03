// The file that horovodrun takes with --config-file, as options. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::tool {

// A part of YAML: "key: value" and, below a key without a value, lines "  key: value" that are indented; comments, and
// quotes around a value. {"--fusion-threshold-mb=32", "--autotune"}. Failures name the line.
Result<std::vector<std::string>> parse_horovod_config(std::string_view text);

}  // namespace tutti::tool
