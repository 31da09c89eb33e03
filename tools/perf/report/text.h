// Words and numbers of reports, as people read them and as other languages need them quoted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

std::string html_escape(std::string_view text);  // for text and for attributes in double quotes

// The command so that a shell reads the same words.
std::string command_text(const std::vector<std::string>& command);

// Four digits that matter, "1234", "123.4", "12.34", "0.0123"; "n/a" for what is no number.
std::string decimal_text(double value);

// "0", or "n/a" where nothing was checked.
std::string wrong_text(const std::optional<std::int64_t>& wrong);

bool has_distributions(const Run& run);
bool has_estimates(const Run& run);
bool has_plans(const Run& run);

}  // namespace tutti::perf
