// `tutti plan check`: proves one plan, or all of them.
#pragma once

#include "tools/tutti/command.h"

namespace tutti::tool {

void add_plan_check_command(CLI::App& group, Commands& commands);

}  // namespace tutti::tool
