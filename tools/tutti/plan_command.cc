#include <fmt/format.h>

#include <algorithm>

#include "tools/tutti/command.h"
#include "tools/tutti/plan_check.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/plan_simulate.h"
#include "tutti/plan.h"

namespace tutti::tool {

namespace {

struct ListOptions {
  std::string collective;
};

int list(const ListOptions& options) {
  const auto wanted = plan::collective_of(options.collective);
  fmt::print("{:<21} {:<26} {}\n", "algorithm", "collective", "how; what it needs");
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    if (!options.collective.empty() && algorithm.collective != wanted) continue;
    std::string collective(plan::name_of(algorithm.collective));
    if (plan::has_variable_form(algorithm.collective)) collective += " (also _v)";
    fmt::print("{:<21} {:<26} {}\n{:<48} needs {}\n", algorithm.name, collective, algorithm.summary, "",
               algorithm.needs);
  }
  return kExitDone;
}

struct PrintOptions {
  ShapeOptions shape;
  std::string file;
};

int print(const PrintOptions& options) {
  const bool is_read = !options.file.empty();
  const auto plan = is_read ? read_plan(options.file) : build_plan(options.shape);
  if (!plan) return is_read ? fail(plan.status()) : refuse(plan.status());
  fmt::print("{}", plan::print(*plan));
  return kExitDone;
}

}  // namespace

void add_plan_command(CLI::App& root, Commands& commands) {
  CLI::App& group = commands.add_group(root, {"plan", "Look at collectives as plans before they run.",
                                              "tutti plan list\n"
                                              "tutti plan print --collective all_reduce --algorithm ring --ranks 4\n"
                                              "tutti plan check --all --ranks 1-16\n"
                                              "tutti plan explain share/topologies/a100x16.topo --bytes 64M"});
  commands.add<ListOptions>(
      group, {"list", "List the algorithms.", "tutti plan list\ntutti plan list --collective all_reduce"},
      [](CLI::App& command, ListOptions& options) {
        command.add_option("--collective", options.collective, "Only those for this collective")
            ->type_name("NAME")
            ->check(one_of(collective_names()));
      },
      list);
  commands.add<PrintOptions>(
      group,
      {"print", "Print a plan as text: what each rank does, step by step.",
       "tutti plan print --collective all_reduce --algorithm ring --ranks 4\n"
       "tutti plan print --collective broadcast --algorithm tree --ranks 7 --root 3 --lanes 2\n"
       "tutti plan print --algorithm hierarchical_ring --ranks 5 --hosts 3,2 --reach\n"
       "tutti plan print --algorithm staged --ranks 3 --reach stage\n"
       "tutti plan print my.plan"},
      [](CLI::App& command, PrintOptions& options) {
        command.add_option("FILE", options.file, "A plan to read and print again, instead of building one")
            ->type_name("FILE");
        add_shape_options(command, options.shape);
      },
      print);
  add_plan_check_command(group, commands);
  add_plan_explain_command(group, commands);
  add_plan_simulate_command(group, commands);
}

}  // namespace tutti::tool
