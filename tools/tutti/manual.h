// The manual page, written from the tree of commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tool {

std::string manual_page(const CLI::App& root);

void add_manual_command(CLI::App& root, Commands& commands);

}  // namespace tutti::tool
