// The folders in which the running jobs of a user have their control sockets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::launch::control {

inline constexpr std::size_t kJobNameBytesMax = 64;
inline constexpr std::string_view kSocketSuffix = ".sock";

// Letters, digits, '.', '-' and '_', from one to kJobNameBytesMax, the first no '.' or '-': it becomes the name of a
// file.
Status validate_job_name(std::string_view name);

// $XDG_RUNTIME_DIR/tutti where that is set, /tmp/tutti-UID-jobs, /run/user/UID/tutti. A job's socket is in the first
// that is usable; whoever looks for jobs looks in all, since variables differ between a login and a batch job.
std::vector<std::string> job_folders();

// Makes it, if need be, for this user alone. Fails when it is a link, belongs to somebody else or is open to others.
Status prepare_folder(const std::string& path);
// The same checks without making it. False: there is none. A link or a folder of others counts as none.
bool is_safe_folder(const std::string& path);

}  // namespace tutti::launch::control
