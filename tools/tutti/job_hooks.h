// What `tutti run` lets others see of its job: the socket that `tutti ps`, `top` and `kill` ask.
#pragma once

#include <string>
#include <string_view>

#include "launch/launcher.h"

namespace tutti::tool {

// A job that cannot be seen runs all the same: that is a warning, under the name of the command.
launch::JobHooks job_hooks(const std::string& job, std::string_view who);

}  // namespace tutti::tool
