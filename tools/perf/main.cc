// all_reduce_perf and its sisters: the name that it is called by says what is measured.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "tools/perf/collective.h"
#include "tools/perf/failure.h"
#include "tools/perf/options.h"
#include "tools/perf/tool.h"
#include "tools/tutti/usage.h"
#include "tutti/version.h"

namespace tutti::perf {

namespace {

std::string program_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

int fail(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  return kExitUsage;
}

std::string examples_of(const std::string& program) {
  return fmt::format(
      "Examples:\n"
      "  {0} -b 8 -e 128M -f 2 -g 8\n"
      "  mpirun -np 4 {0} -b 1M -e 1G -f 2\n"
      "  {0} -b 1K -e 16M -f 4 --report report.html\n"
      "  {0} -b 1K -e 16M -f 4 -J base.json; {0} -b 1K -e 16M -f 4 --compare base.json",
      program);
}

int run(const std::vector<std::string>& words) {
  Invocation invocation{.program = program_of(words.front()), .command = words};
  invocation.collective = find_collective(invocation.program);
  if (invocation.collective == nullptr) {
    std::vector<std::string> names;
    for (const Collective& collective : collectives()) names.push_back(fmt::format("{}_perf", collective.name));
    return fail(fmt::format("'{}' is not the name of a perf tool{}", invocation.program,
                            text::suggestion(invocation.program, names)));
  }
  CLI::App app(fmt::format("Measures {} as nccl-tests does, and checks every result.", invocation.collective->name),
               invocation.program);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", invocation.program + " of Tutti " TUTTI_VERSION, "Print the version and exit");
  app.footer(examples_of(invocation.program));
  app.get_formatter()->column_width(36);
  add_options(app, invocation.options);
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  if (const auto slip = tool::find_slip(app, arguments)) return fail(*slip);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it takes them from the back
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return fail(tool::sentence_of(app, error));
  }
  return run_tool(std::move(invocation));
}

}  // namespace

}  // namespace tutti::perf

int main(int argument_count, char** arguments) {
  return tutti::perf::run(std::vector<std::string>(arguments, arguments + argument_count));
}
