#include "tools/tutti/env_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/knobs.h"
#include "nccl/adapter_list.h"
#include "nccl/environment.h"
#include "nccl/environment_table.h"
#include "os/environment.h"
#include "tools/tutti/facade_paths.h"

namespace tutti::tool {

namespace {

struct Row {
  std::string_view name;
  std::string_view honoured_as;  // TUTTI_..., yes or no
  std::string value;             // empty: not set
  std::string_view remark;
};

Row row_of(const nccl::Variable& variable) {
  Row row{.name = variable.name,
          .honoured_as = variable.standing == nccl::Standing::none ? "no" : "yes",
          .value = os::environment_variable(variable.name).value_or(""),
          .remark = variable.remark};
  const auto knob = std::ranges::find(all_knobs(), variable.name, &Knob::alias);
  if (knob == all_knobs().end()) return row;
  row.honoured_as = knob->name;
  row.remark = knob->meaning;
  return row;
}

// On one line, whatever the environment holds.
std::string shown(std::string text) {
  if (text.empty()) return "-";
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return text;
}

void print_table(const std::vector<Row>& rows) {
  std::size_t name_width = 0;
  std::size_t value_width = 5;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    value_width = std::max(value_width, std::min<std::size_t>(row.value.size(), 30));
  }
  constexpr int kHonouredWidth = 19;  // that of the longest name
  const auto print = [&](std::string_view name, std::string_view honoured, std::string_view value,
                         std::string_view remark) {
    fmt::print("{:<{}} {:<{}} {:<{}} {}\n", name, name_width, honoured, kHonouredWidth, value, value_width, remark);
  };
  print("variable", "honoured", "value", "how, or why not");
  for (const Row& row : rows) print(row.name, row.honoured_as, shown(row.value), row.remark);
}

void print_json(const std::vector<Row>& rows) {
  nlohmann::json document = {{"variables", nlohmann::json::array()}};
  for (const Row& row : rows) {
    document["variables"].push_back(
        {{"name", row.name}, {"honoured", row.honoured_as}, {"value", row.value}, {"remark", row.remark}});
  }
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int print_shell_lines() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto paths = find_facades(executable);
  if (!paths) {
    fmt::print(stderr, "tutti env nccl: {}\n", paths.status().text());
    return kExitFailed;
  }
  fmt::print("{}", shell_lines(*paths));
  return kExitDone;
}

}  // namespace

int show_nccl_variables(bool is_json) {
  nccl::read_settings_files();
  std::vector<Row> rows;
  for (const nccl::Variable& variable : nccl::variables()) rows.push_back(row_of(variable));
  if (is_json) {
    print_json(rows);
  } else {
    print_table(rows);
  }
  std::fflush(stdout);
  for (const std::string& line : nccl::remarks(os::environment_variable, os::environment_names("NCCL_"))) {
    fmt::print(stderr, "tutti env: {}\n", line);
  }
  const auto environment = nccl::read_environment(os::environment_variable, nccl::find_adapters());
  if (environment) return kExitDone;
  fmt::print(stderr, "tutti env: {}\n", environment.status().text());
  return kExitFailed;
}

void add_env_nccl_command(CLI::App& env, Commands& commands) {
  struct NoOptions {};
  commands.add<NoOptions>(
      env,
      {"nccl", "Print lines for a shell that make programs use the NCCL and CUDA libraries of Tutti.",
       "tutti env nccl\neval \"$(tutti env nccl)\""},
      [](CLI::App&, NoOptions&) {}, [](const NoOptions&) { return print_shell_lines(); });
}

}  // namespace tutti::tool
