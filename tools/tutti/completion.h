// Completion scripts for shells, written from the tree of commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tool {

std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

void add_completion_command(CLI::App& root, Commands& commands);

}  // namespace tutti::tool
