// `tutti run --dry-run`: what would be started where, and what each rank would find in its environment.
#pragma once

#include <string>

#include "launch/settings.h"

namespace tutti::tool {

// What is known only when the hosts have answered stands there as <free port>, <address> and <secret>.
std::string dry_run_text(const launch::Settings& settings);

}  // namespace tutti::tool
