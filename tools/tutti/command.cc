#include "tools/tutti/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::tool {

namespace {

// "Examples:" and the lines, indented.
std::string footer_of(std::string_view examples) {
  std::string footer = "Examples:";
  for (const std::string_view line : text::split(examples, '\n')) {
    if (!text::trim(line).empty()) footer += fmt::format("\n  {}", text::trim(line));
  }
  return footer;
}

}  // namespace

CLI::App& Commands::add_group(CLI::App& parent, const Words& words) {
  CLI::App* command = parent.add_subcommand(std::string(words.name), std::string(words.summary));
  command->footer(footer_of(words.examples));
  command->group("Commands");
  command->require_subcommand(0, 1);
  return *command;
}

const std::function<int()>* Commands::run_of(const CLI::App& command) const {
  const auto found = runs_.find(&command);
  return found == runs_.end() ? nullptr : &found->second;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string choices = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](std::string& value) -> std::string {
    if (std::find(words.begin(), words.end(), value) != words.end()) return "";
    const std::string suggestion = text::suggestion(value, words);
    if (!suggestion.empty()) return fmt::format("'{}' is not known{}", value, suggestion);
    return fmt::format("'{}' is not one of {}", value, fmt::join(words, ", "));
  };
  return CLI::Validator(check, choices);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  const auto inside = std::string_view(type).substr(open + 1, close - open - 1);
  for (const std::string_view word : text::split(inside, ',')) choices.emplace_back(word);
  return choices;
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::uint64_t& bytes, const std::string& help) {
  const auto read = [&bytes](const std::string& value) { bytes = text::bytes_of(value).value_or(bytes); };
  const auto check = [](std::string& value) -> std::string {
    if (text::bytes_of(value)) return "";
    return fmt::format("'{}' is not a size; write it as 64K, 1M or 10G", value);
  };
  CLI::Option* option = command.add_option_function<std::string>(flag, read, help);
  return option->type_name("SIZE")->check(CLI::Validator(check, ""));
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return option.get_snames().empty() ? "" : "-" + option.get_snames().front();
}

std::string value_name_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(":{ "));
}

std::string path_of(const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr; parent = parent->get_parent()) {
    path = parent->get_name() + " " + path;
  }
  return path;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* child) { return !child->get_name().empty() && !child->get_group().empty(); });
}

}  // namespace tutti::tool
