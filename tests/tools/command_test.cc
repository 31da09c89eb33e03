// Runs the command tutti and looks at what a person would see.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "tests/tools/answer.h"

namespace tutti {
namespace {

// "plan", "plan list" and so on, read from the manual page, which is written from the tree of commands.
std::vector<std::string> all_commands() {
  const std::string page = tutti("manual").text;
  constexpr std::string_view kHeading = ".SS tutti ";
  std::vector<std::string> commands;
  for (const std::string_view line : text::split(page, '\n')) {
    if (line.starts_with(kHeading)) commands.emplace_back(line.substr(kHeading.size()));
  }
  return commands;
}

TEST(Command, PrintsItsVersion) {
  const Answer answer = tutti("--version");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(answer.text.starts_with("tutti ")) << answer.text;
}

TEST(Command, PrintsHelpAndFailsWhenNothingIsAsked) {
  for (const char* arguments : {"", "plan"}) {
    const Answer answer = tutti(arguments);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_TRUE(contains(answer.text, "Usage: tutti")) << answer.text;
  }
}

TEST(Command, ShowsExamplesInEveryHelp) {
  const auto commands = all_commands();
  ASSERT_GE(commands.size(), 4u);
  for (const std::string& command : commands) {
    const Answer answer = tutti(command + " --help");
    EXPECT_EQ(answer.exit_code, 0) << command;
    if (command.starts_with("perf ")) {  // a program of its own
      const std::string program = command.substr(5) + "_perf";
      EXPECT_TRUE(contains(answer.text, "Usage: " + program)) << answer.text;
      EXPECT_TRUE(contains(answer.text, "Examples:\n  " + program)) << answer.text;
      continue;
    }
    EXPECT_TRUE(contains(answer.text, "Usage: tutti " + command)) << answer.text;
    EXPECT_TRUE(contains(answer.text, "Examples:\n  tutti ")) << answer.text;
  }
}

TEST(Command, SuggestsWhatAMisspeltCommandMeans) {
  expect_usage_error("plann", "did you mean 'plan'?");
  expect_usage_error("plan lst", "tutti plan has no command 'lst', did you mean 'list'?");
  expect_usage_error("frobnicate", "tutti has no command 'frobnicate'; see 'tutti --help'.");
}

TEST(Command, SuggestsWhatAMisspeltOptionMeans) {
  expect_usage_error("plan list --colective all_reduce", "has no option '--colective', did you mean '--collective'?");
  expect_usage_error("--versoin", "did you mean '--version'?");
  expect_usage_error("plan list -q", "tutti plan list has no option '-q'; see 'tutti plan list --help'.");
}

TEST(Command, SaysWhichValueIsMissingOrWrong) {
  expect_usage_error("plan list --collective", "option '--collective' of tutti plan list needs a value");
  expect_usage_error("plan list --collective all_reduc", "did you mean 'all_reduce'?");
  expect_usage_error("completion", "SHELL is required");
  expect_usage_error("completion basch", "did you mean 'bash'?");
  expect_usage_error("manual now", "tutti manual takes no argument, but 'now' was given");
}

TEST(Command, ListsAlgorithmsOfOneCollective) {
  const Answer answer = tutti("plan list --collective all_reduce");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(contains(answer.text, "ring")) << answer.text;
  EXPECT_FALSE(contains(answer.text, "all_to_all")) << answer.text;
}

TEST(Completion, IsAcceptedByTheShellItIsFor) {
  for (const std::string name : {"bash", "zsh", "fish"}) {
    const Answer script = tutti("completion " + name);
    EXPECT_EQ(script.exit_code, 0);
    EXPECT_TRUE(contains(script.text, "tutti plan list")) << script.text;
    if (shell("command -v " + name).exit_code != 0) continue;
    const Answer check = shell(std::string(TUTTI_COMMAND) + " completion " + name + " | " + name + " -n /dev/stdin");
    EXPECT_EQ(check.exit_code, 0) << check.text;
  }
}

TEST(Completion, OffersCommandsOptionsAndChoices) {
  const std::string run = "bash -c 'source <(" + std::string(TUTTI_COMMAND) +
                          " completion bash); complete_line() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tutti; "
                          "echo \"${COMPREPLY[@]}\"; }; complete_line tutti ";
  EXPECT_EQ(shell(run + "pl'").text, "plan\n");
  EXPECT_EQ(shell(run + "plan lis'").text, "list\n");
  EXPECT_EQ(shell(run + "plan list --coll'").text, "--collective\n");
  EXPECT_EQ(shell(run + "plan list --collective all_r'").text, "all_reduce\n");
  EXPECT_EQ(shell(run + "completion z'").text, "zsh\n");
}

TEST(Manual, HasTheSectionsOfAManualPage) {
  const Answer page = tutti("manual");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_TRUE(page.text.starts_with(".TH TUTTI 1"));
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS"}) {
    EXPECT_TRUE(contains(page.text, std::string("\n.SH ") + section + "\n")) << section;
  }
}

TEST(Manual, GivesManNothingToWarnOf) {
  // Some minimal images have a `man` that only says that manual pages are left out.
  if (shell("command -v man && command -v groff").exit_code != 0) GTEST_SKIP() << "man or groff is not installed";
  const Answer answer = shell(std::string(TUTTI_COMMAND) + " manual | man --warnings -l - > /dev/null");
  EXPECT_EQ(answer.text, "");
}

}  // namespace
}  // namespace tutti
