// Files that are read or written as a whole, with failures that name them.
#pragma once

#include <string>

#include "tutti/status.h"

namespace tutti::perf {

// Fails for folders and for what is too large to be meant.
Result<std::string> read_text(const std::string& path);
// Replaces what is there: whoever must not lose a file looks before.
Status write_text(const std::string& path, const std::string& content);

}  // namespace tutti::perf
