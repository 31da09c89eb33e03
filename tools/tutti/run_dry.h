// `tutti run --dry-run`: what would be started where, and what each rank would find in its environment.
#pragma once

#include <string>

#include "launch/settings.h"

namespace tutti::tool {

// What is known only when the hosts have answered stands there as <free port>, <address of ...> and <secret>. Variables
// that ranks have from `environment` as they are there are only counted.
std::string dry_run_text(const launch::Settings& settings, const launch::Variables& environment);

}  // namespace tutti::tool
