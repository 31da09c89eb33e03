// `tutti run`, and the names horovodrun and torchrun for it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/run_options.h"

namespace tutti::tool {

// `program` is what take_program() took from the arguments before they were parsed.
void add_run_command(CLI::App& root, Commands& commands, const std::vector<std::string>& program);

// Starts the job, or prints what would be started; the exit code. `who` begins its sentences: "tutti run".
int run_job(const RunOptions& options, std::string_view who);

// The whole command line of a program that is called by another name. nullopt: it is not horovodrun or torchrun.
std::optional<int> try_other_name(const std::string& called, const std::vector<std::string>& arguments);

int horovodrun(std::vector<std::string> arguments);
int torchrun(std::vector<std::string> arguments, const std::string& called);

// Parses a command line of its own that ends with a program; nullopt: go on. Otherwise the exit code after help, or
// after a sentence about what is wrong.
std::optional<int> parse_line(CLI::App& app, std::vector<std::string>& arguments, std::vector<std::string>& program);

}  // namespace tutti::tool
