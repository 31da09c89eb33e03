// `tutti env`: every setting, its type, its value, its default, where it came from and what it means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/knobs.h"
#include "bootstrap/network/interface_filter.h"
#include "os/environment.h"
#include "os/log_sink.h"
#include "tools/tutti/command.h"
#include "tools/tutti/env_nccl.h"

namespace tutti::tool {

namespace {

struct EnvOptions {
  bool is_json = false;
  bool is_nccl = false;
};

std::string_view name_of(KnobType type) {
  switch (type) {
    case KnobType::seconds: return "seconds";
    case KnobType::bytes: return "bytes";
    case KnobType::boolean: return "boolean";
    case KnobType::integer: return "integer";
    case KnobType::choice: return "choice";
    case KnobType::text: return "text";
  }
  return "";
}

std::string_view name_of(KnobMoment moment) { return moment == KnobMoment::start ? "start" : "call"; }

// What a start would refuse beyond what the table knows: texts with a form of their own.
std::string find_fault(const KnobReading& reading) {
  const auto sentence = [&](const Status& status) {
    return status ? std::string() : fmt::format("{}: {}", reading.variable, status.text());
  };
  if (reading.variable.empty() || !reading.error.empty()) return reading.error;
  if (reading.knob->id == KnobId::socket_ifname)
    return sentence(bootstrap::parse_interface_filter(reading.text).status());
  if (reading.knob->id == KnobId::log_areas) return sentence(parse_log_areas(reading.text).status());
  if (reading.knob->id == KnobId::log_file) return sentence(os::log_file_path(reading.text, "host", 1).status());
  return {};
}

// On one line, whatever the environment holds.
std::string shown(std::string_view text) {
  std::string line(text.empty() ? "-" : text);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return line;
}

void print_row(std::size_t width, const std::array<std::string_view, 6>& cells) {
  fmt::print("{:<22} {:<7} {:<{}} {:<7} {:<22} {}\n", cells[0], cells[1], cells[2], width, cells[3], cells[4],
             cells[5]);
}

void print_table(const std::vector<KnobReading>& readings) {
  std::size_t width = 0;
  for (const KnobReading& reading : readings) width = std::max(width, reading.text.size());
  width = std::clamp<std::size_t>(width, 7, 40);
  print_row(width, {"setting", "type", "value", "default", "from", "meaning"});
  for (const KnobReading& reading : readings) {
    const Knob& knob = *reading.knob;
    const std::string_view from = reading.variable.empty() ? "default" : reading.variable;
    print_row(width, {knob.name, name_of(knob.type), shown(reading.text), shown(knob.standard), from, knob.meaning});
  }
}

nlohmann::json json_of(const KnobReading& reading) {
  const Knob& knob = *reading.knob;
  nlohmann::json row = {{"name", knob.name},
                        {"value", reading.text},
                        {"default", knob.standard},
                        {"from", reading.variable.empty() ? "default" : reading.variable},
                        {"type", name_of(knob.type)},
                        {"read", name_of(knob.moment)},
                        {"allowed", allowed_text(knob)},
                        {"meaning", knob.meaning}};
  if (!knob.alias.empty()) row["alias"] = knob.alias;
  if (!reading.error.empty()) row["error"] = reading.error;
  if (!reading.note.empty()) row["note"] = reading.note;
  return row;
}

void print_json(const std::vector<KnobReading>& readings, const std::vector<std::string>& unknown) {
  nlohmann::json document = {{"settings", nlohmann::json::array()}, {"unknown", unknown}};
  for (const KnobReading& reading : readings) document["settings"].push_back(json_of(reading));
  // Values come from the environment and need not be text: what is no UTF-8 is replaced.
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int show(const EnvOptions& options) {
  if (options.is_nccl) return show_nccl_variables(options.is_json);
  std::vector<KnobReading> readings = read_knobs(os::environment_variable);
  for (KnobReading& reading : readings) reading.error = find_fault(reading);
  const std::vector<std::string> unknown = unknown_knobs(os::environment_names("TUTTI_"));
  if (options.is_json) {
    print_json(readings, unknown);
  } else {
    print_table(readings);
  }
  std::fflush(stdout);  // what is wrong stands below the table also where both go to one place
  bool is_good = true;
  for (const KnobReading& reading : readings) {
    if (!reading.note.empty()) fmt::print(stderr, "tutti env: {}\n", reading.note);
    if (reading.error.empty()) continue;
    fmt::print(stderr, "tutti env: {}\n", reading.error);
    is_good = false;
  }
  for (const std::string& sentence : unknown) fmt::print(stderr, "tutti env: {}\n", sentence);
  return is_good ? kExitDone : kExitFailed;
}

}  // namespace

void add_env_command(CLI::App& root, Commands& commands) {
  CLI::App& env = commands.add<EnvOptions>(
      root,
      {"env", "List every setting: its type, value and default, where the value came from and what it means.",
       "tutti env\ntutti env --json\nTUTTI_LOG=info tutti env\ntutti env --nccl"},
      [](CLI::App& command, EnvOptions& options) {
        command.add_flag("--json", options.is_json, "Print one JSON object");
        command.add_flag("--nccl", options.is_nccl,
                         "List the variables of NCCL instead, and what becomes of them here");
      },
      show);
  add_env_nccl_command(env, commands);
}

}  // namespace tutti::tool
