#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/completion.h"
#include "tools/tutti/manual.h"
#include "tools/tutti/perf_command.h"
#include "tools/tutti/run_command.h"
#include "tools/tutti/usage.h"
#include "tutti/version.h"

namespace tutti::tool {

namespace {

// `program` is what `tutti run` starts.
void add_commands(CLI::App& root, Commands& commands, const std::vector<std::string>& program) {
  root.set_version_flag("--version", "tutti " TUTTI_VERSION, "Print the version and exit");
  root.set_help_flag("-h,--help", "Print this help and exit");
  root.footer("Examples:\n  tutti demo\n  tutti check\n  tutti plan list\n  tutti manual | man -l -");
  root.get_formatter()->label("SUBCOMMAND", "COMMAND");
  root.get_formatter()->column_width(32);
  root.require_subcommand(0, 1);
  add_plan_command(root, commands);
  add_demo_command(root, commands);
  add_run_command(root, commands, program);
  add_check_command(root, commands);
  add_check_rank_command(root, commands);
  add_env_command(root, commands);
  add_meet_command(root, commands);
  add_inspect_command(root, commands);
  add_diagnose_command(root, commands);
  add_agent_command(root, commands);
  add_perf_command(root, commands);
  add_ps_command(root, commands);
  add_top_command(root, commands);
  add_kill_command(root, commands);
  add_completion_command(root, commands);
  add_manual_command(root, commands);
}

int fail(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  return kExitUsage;
}

int run(const std::string& called, std::vector<std::string> arguments) {
  if (const auto code = try_perf_tool(arguments)) return *code;
  if (const auto code = try_other_name(called, arguments)) return *code;
  CLI::App root("Tutti, all together: one stack for distributed training, in which collectives are plans.", "tutti");
  Commands commands(root);
  std::vector<std::string> program;
  add_commands(root, commands, program);
  if (!arguments.empty() && arguments[0] == "run") program = take_program(*root.get_subcommand("run"), arguments, 1);
  if (const auto slip = find_slip(root, arguments)) return fail(*slip);
  try {
    root.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it takes them from the back
  } catch (const CLI::Success& help_or_version) {
    return root.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return fail(sentence_of(root, error));
  }
  const CLI::App& chosen = chosen_of(root);
  if (const auto* command = commands.run_of(chosen)) return (*command)();
  fmt::print(stderr, "{}", root.help());
  return kExitUsage;
}

}  // namespace

}  // namespace tutti::tool

int main(int argument_count, char** arguments) {
  return tutti::tool::run(arguments[0], std::vector<std::string>(arguments + 1, arguments + argument_count));
}
