#include "tools/tutti/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "base/text.h"
#include "tutti/version.h"

namespace tutti::tool {

namespace {

// Roff takes a backslash as an escape, a dot or quote at the start of a line as a request, and a dash as a hyphen.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool starts_line = escaped.empty() || escaped.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string option_entry(const CLI::Option& option) {
  const std::string value = option.get_positional() ? "" : value_name_of(option);
  std::string entry = fmt::format(".TP\n\\fB{}\\fR", roff(name_of(option)));
  if (!value.empty()) entry += fmt::format(" \\fI{}\\fR", roff(value));
  entry += "\n" + roff(option.get_description()) + ".";
  const auto choices = choices_of(option);
  if (!choices.empty()) entry += roff(fmt::format(" One of: {}.", fmt::join(choices, ", ")));
  if (!option.get_default_str().empty()) entry += roff(fmt::format(" Default: {}.", option.get_default_str()));
  if (option.get_required()) entry += " Required.";
  return entry + "\n";
}

std::string synopsis_of(const CLI::App& command) {
  std::string text = fmt::format("\\fB{}\\fR", roff(path_of(command)));
  if (!command.get_options([](const CLI::Option* option) { return option->nonpositional(); }).empty()) {
    text += " [\\fIoptions\\fR]";
  }
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR", roff(name_of(*option)));
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string examples_of(const CLI::App& command) {
  std::string text = ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  const std::string footer = command.get_footer();
  for (const std::string_view line : text::split(footer, '\n')) {
    if (line.starts_with("  ")) text += roff(text::trim(line)) + "\n";
  }
  return text + ".RE\n.fi\n";
}

std::string section_of(const CLI::App& command) {
  std::string text = fmt::format(".SS {}\n{}\n", roff(path_of(command)), roff(command.get_description()));
  // A command that has commands of its own runs by itself only where it takes options.
  const auto takes_more = [&](const CLI::Option* option) { return option != command.get_help_ptr(); };
  const bool runs = commands_of(command).empty() || !command.get_options(takes_more).empty();
  if (runs) text += fmt::format(".PP\n{}\n", synopsis_of(command));
  for (const CLI::Option* option : command.get_options()) {
    if (option != command.get_help_ptr()) text += option_entry(*option);
  }
  text += examples_of(command);
  for (const CLI::App* child : commands_of(command)) text += section_of(*child);
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& root) {
  std::string text = fmt::format(".TH TUTTI 1 \"\" \"Tutti {}\" \"Tutti\"\n", TUTTI_VERSION);
  text += fmt::format(".SH NAME\ntutti \\- {}\n", "collectives as plans: check, time, explain and print them");
  text += ".SH SYNOPSIS\n\\fBtutti\\fR [\\fIoptions\\fR] \\fIcommand\\fR ...\n";
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n", roff(root.get_description()));
  for (const CLI::Option* option : root.get_options()) text += option_entry(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root)) text += section_of(*command);
  text += ".SH EXIT STATUS\n.TP\n0\nThe command did what it was asked.\n";
  text += ".TP\n1\nThe command ran and failed, or what it checked is wrong.\n";
  text += ".TP\n2\nThe command line is wrong; nothing was done.\n";
  return text;
}

void add_manual_command(CLI::App& root, Commands& commands) {
  struct NoOptions {};
  commands.add<NoOptions>(
      root, {"manual", "Print the manual page of tutti.", "tutti manual | man -l -\ntutti manual > tutti.1"},
      [](CLI::App&, NoOptions&) {},
      [&root](const NoOptions&) {
        std::fputs(manual_page(root).c_str(), stdout);
        return kExitDone;
      });
}

}  // namespace tutti::tool
