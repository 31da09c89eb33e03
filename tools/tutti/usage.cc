#include "tools/tutti/usage.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

std::string remedy_of(const std::string& suggestion, const CLI::App& command) {
  return suggestion.empty() ? fmt::format("; see '{} --help'.", path_of(command)) : suggestion;
}

bool is_flag_like(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9');
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

bool has_positional(const CLI::App& command) {
  return !command.get_options([](const CLI::Option* option) { return option->get_positional(); }).empty();
}

class SlipFinder {
 public:
  SlipFinder(const CLI::App& root, const std::vector<std::string>& arguments)
      : command_(&root), arguments_(arguments) {}

  std::optional<std::string> run() {
    for (; at_ < arguments_.size() && !ended_; ++at_) {
      const auto slip = is_flag_like(arguments_[at_]) ? flag() : word();
      if (slip) return slip;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> flag() {
    const std::string& argument = arguments_[at_];
    const bool is_long = argument.starts_with("--");
    const std::string name = is_long ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
    // What follows help or version does not matter any more.
    ended_ = argument == "--" || name == "--help" || name == "-h" || name == "--version";
    if (ended_) return std::nullopt;
    const CLI::Option* option = command_->get_option_no_throw(name);
    if (option == nullptr) {
      const std::string suggestion = is_long ? text::suggestion(name, flags_of(*command_)) : "";
      return fmt::format("{} has no option '{}'{}", path_of(*command_), name, remedy_of(suggestion, *command_));
    }
    const bool has_value = is_long ? argument.size() > name.size() : argument.size() > 2;
    if (has_value || option->get_items_expected_min() == 0) return std::nullopt;
    at_ += static_cast<std::size_t>(option->get_items_expected_min());
    if (at_ < arguments_.size()) return std::nullopt;
    return fmt::format("option '{}' of {} needs a value{}", name, path_of(*command_), remedy_of("", *command_));
  }

  std::optional<std::string> word() {
    const std::string& argument = arguments_[at_];
    for (const CLI::App* child : command_->get_subcommands([](const CLI::App*) { return true; })) {
      if (!child->check_name(argument)) continue;
      command_ = child;
      return std::nullopt;
    }
    std::vector<std::string> names;
    for (const CLI::App* child : commands_of(*command_)) names.push_back(child->get_name());
    if (has_positional(*command_)) return std::nullopt;
    if (names.empty()) {
      return fmt::format("{} takes no argument, but '{}' was given{}", path_of(*command_), argument,
                         remedy_of("", *command_));
    }
    return fmt::format("{} has no command '{}'{}", path_of(*command_), argument,
                       remedy_of(text::suggestion(argument, names), *command_));
  }

  const CLI::App* command_;
  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace

std::optional<std::string> find_slip(const CLI::App& root, const std::vector<std::string>& arguments) {
  return SlipFinder(root, arguments).run();
}

std::string sentence_of(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = chosen_of(root);
  const std::string reason(text::trim(error.what()));
  return fmt::format("{}: {}{}", path_of(command), reason, reason.ends_with('?') ? "" : remedy_of("", command));
}

const CLI::App& chosen_of(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

}  // namespace tutti::tool
