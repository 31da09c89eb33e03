// `tutti check`: what this build and this machine have, what is missing, and how to get it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/tutti/check/build_table.h"
#include "tools/tutti/check/host_report.h"
#include "tools/tutti/check/report_json.h"
#include "tools/tutti/check/report_text.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

struct CheckOptions {
  bool is_json = false;
  bool shows_build = false;
};

int check_here(const CheckOptions& options) {
  const check::HostReport report = check::look_here();
  if (options.is_json) {
    fmt::print("{}\n", check::json_of(report).dump(2));
  } else {
    fmt::print("{}", check::text_of(report.findings));
  }
  return check::is_usable(report.findings) ? kExitDone : kExitFailed;
}

int run_check(const CheckOptions& options) {
  if (options.shows_build) {
    fmt::print("{}", check::build_table());
    return kExitDone;
  }
  return check_here(options);
}

}  // namespace

void add_check_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, CheckOptions& options) {
    CLI::Option* json = command.add_flag("--json", options.is_json, "Print JSON, as share/schemas/check.schema.json says");
    command.add_flag("--build", options.shows_build, "Print the table that horovodrun --check-build prints")
        ->excludes(json);
  };
  commands.add<CheckOptions>(
      root,
      {"check", "Say what this build and this machine have, what is missing and how to get it.",
       "tutti check\ntutti check --json\ntutti check --build"},
      add_options, run_check);
}

}  // namespace tutti::tool
