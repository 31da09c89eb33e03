// Where the lines of the log go: stderr, or the file that the settings name.
#pragma once

#include <string>
#include <string_view>

#include "base/knobs.h"

namespace tutti::os {

// %h becomes the host, %p the process id, %% a percent sign; anything else after % is an error.
Result<std::string> log_file_path(std::string_view pattern, std::string_view host, int process_id);

// Makes lines up to the settings' level go where the settings say, from now on and for the whole process. The last call
// counts. Lines are appended, each by one write, so that processes may share a file.
Status install_log(const Knobs& knobs);

}  // namespace tutti::os
