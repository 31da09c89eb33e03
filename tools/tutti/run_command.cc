#include "tools/tutti/run_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "launch/launcher.h"
#include "tools/tutti/job_hooks.h"
#include "tools/tutti/run_dry.h"
#include "tools/tutti/run_settings.h"
#include "tools/tutti/usage.h"

namespace tutti::tool {

int run_job(const RunOptions& options, std::string_view who) {
  const Surroundings surroundings = this_process();
  const auto settings = settings_of(options, surroundings);
  if (!settings) {
    fmt::print(stderr, "{}: {}\n", who, settings.status().text());
    return kExitUsage;
  }
  if (options.is_dry) {
    std::fputs(dry_run_text(*settings, surroundings.environment).c_str(), stdout);
    return kExitDone;
  }
  const auto code = launch::run(*settings, job_hooks(settings->job, who));
  if (code) return *code;
  fmt::print(stderr, "{}: {}\n", who, code.status().text());
  return kExitFailed;
}

void add_run_command(CLI::App& root, Commands& commands, const std::vector<std::string>& program) {
  const Words words = {"run", "Start the ranks of a job here, on other hosts or inside an allocation of Slurm.",
                       "tutti run -np 4 ./program --its --options\n"
                       "tutti run -H gpu1:8,gpu2:8 python train.py\n"
                       "tutti run --hostfile hosts.txt -N 2 --dry-run ./program\n"
                       "tutti run --torchrun --nproc-per-node 4 train.py"};
  commands.add<RunOptions>(
      root, words,
      [](CLI::App& command, RunOptions& options) {
        add_run_options(command, options);
        command.add_flag("--torchrun", options.names_another, "Take the options that follow as torchrun does");
        command.add_flag("--horovodrun", options.names_another, "Take the options that follow as horovodrun does");
      },
      [&program](const RunOptions& options) {
        RunOptions all = options;
        all.program = program;
        return run_job(all, "tutti run");
      });
}

std::optional<int> parse_line(CLI::App& app, std::vector<std::string>& arguments, std::vector<std::string>& program) {
  program = take_program(app, arguments);
  if (const auto slip = find_slip(app, arguments)) {
    fmt::print(stderr, "{}\n", *slip);
    return kExitUsage;
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}\n", sentence_of(app, error));
    return kExitUsage;
  }
  return std::nullopt;
}

std::optional<int> try_other_name(const std::string& called, const std::vector<std::string>& arguments) {
  const std::string name = std::filesystem::path(called).filename().string();
  if (name == "horovodrun") return horovodrun(arguments);
  if (name == "torchrun") return torchrun(arguments, name);
  if (arguments.size() < 2 || arguments[0] != "run") return std::nullopt;
  const std::vector<std::string> rest(arguments.begin() + 2, arguments.end());
  if (arguments[1] == "--torchrun") return torchrun(rest, "tutti run --torchrun");
  if (arguments[1] == "--horovodrun") return horovodrun(rest);
  return std::nullopt;
}

}  // namespace tutti::tool
