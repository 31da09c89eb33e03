#include <fmt/format.h>

#include <algorithm>

#include "tools/tutti/command.h"
#include "tutti/plan.h"

namespace tutti::tool {

namespace {

struct ListOptions {
  std::string collective;
};

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const plan::Collective collective : plan::kCollectives) names.emplace_back(plan::name_of(collective));
  return names;
}

int list(const ListOptions& options) {
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    const std::string_view collective = plan::name_of(algorithm.collective);
    if (!options.collective.empty() && options.collective != collective) continue;
    fmt::print("{:<20} {:<16} {}\n", algorithm.name, collective, algorithm.summary);
  }
  return kExitDone;
}

}  // namespace

void add_plan_command(CLI::App& root, Commands& commands) {
  CLI::App& group = commands.add_group(
      root, {"plan", "Look at collectives as plans before they run.", "tutti plan list\ntutti plan list --help"});
  commands.add<ListOptions>(
      group, {"list", "List the algorithms.", "tutti plan list\ntutti plan list --collective all_reduce"},
      [](CLI::App& command, ListOptions& options) {
        command.add_option("--collective", options.collective, "Only those for this collective")
            ->type_name("NAME")
            ->check(one_of(collective_names()));
      },
      list);
}

}  // namespace tutti::tool
