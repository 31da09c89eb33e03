// The text of a short file of the kernel, as in /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace tutti::os {

// Without the end of its last line; nullopt when it cannot be read. At most its first 64 KiB.
std::optional<std::string> read_small_file(const std::string& path);

}  // namespace tutti::os
