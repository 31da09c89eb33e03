// What `tutti env` says about NCCL: its variables, and how programs find our library.
#pragma once

#include "tools/tutti/command.h"

namespace tutti::tool {

// `tutti env --nccl`: the exit code.
int show_nccl_variables(bool is_json);

// `tutti env nccl`.
void add_env_nccl_command(CLI::App& env, Commands& commands);

}  // namespace tutti::tool
