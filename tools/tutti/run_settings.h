// What the launcher is told, made of the options of a command line and of what surrounds it.
#pragma once

#include <filesystem>
#include <string>

#include "launch/settings.h"
#include "tools/tutti/run_options.h"
#include "tutti/status.h"

namespace tutti::tool {

struct Surroundings {
  launch::Variables environment = {};
  std::string host_name = {};
  std::filesystem::path executable = {};  // of this program
};
Surroundings this_process();

// Checked and complete; a contradiction is one sentence. A dry run has no name of its own.
Result<launch::Settings> settings_of(const RunOptions& options, const Surroundings& surroundings);

}  // namespace tutti::tool
