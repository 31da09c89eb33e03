// Where the lines of the log go: stderr, or the file that the settings name.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/knobs.h"

namespace tutti::os {

// %h becomes the host, %p the process id, %% a percent sign; anything else after % is an error.
Result<std::string> log_file_path(std::string_view pattern, std::string_view host, int process_id);

// The time of day in a format of strftime, in which %3f stands for three digits of the second and _ for a
// blank. Empty where it would be longer than 255 bytes.
std::string log_time_text(std::string_view format, std::chrono::system_clock::time_point when);

// Makes lines up to the settings' level go where the settings say, from now on and for the whole process. The last call
// counts. Lines are appended, each by one write, so that processes may share a file.
Status install_log(const Knobs& knobs);

}  // namespace tutti::os
