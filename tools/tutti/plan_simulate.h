// `tutti plan explain` and `tutti plan simulate`: what a call would do on a machine, and how long it would take.
#pragma once

#include "tools/tutti/command.h"

namespace tutti::tool {

void add_plan_explain_command(CLI::App& group, Commands& commands);
void add_plan_simulate_command(CLI::App& group, Commands& commands);

}  // namespace tutti::tool
