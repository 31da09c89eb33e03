// How a command of `tutti` is registered: its words, its options and what it runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tool {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  // the command ran and says no: a plan is wrong, a file cannot be read
inline constexpr int kExitUsage = 2;   // the command was called wrongly and did nothing

// What people read about a command. Help, the manual page and the completions all come from here.
struct Words {
  std::string_view name;
  std::string_view summary;   // one sentence
  std::string_view examples;  // one command a line
};

// The tree of commands and what each leaf runs.
class Commands {
 public:
  explicit Commands(CLI::App& root) : root_(root) {}
  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }

  // A command that only has commands of its own; called without one it prints its help.
  CLI::App& add_group(CLI::App& parent, const Words& words);

  // A command with the options that add_options binds to the fields of an Options. run returns the exit code.
  template <class Options>
  CLI::App& add(CLI::App& parent, const Words& words, const std::function<void(CLI::App&, Options&)>& add_options,
                const std::function<int(const Options&)>& run) {
    auto options = std::make_shared<Options>();  // shared: the option tree and the command both refer to it
    CLI::App& command = add_group(parent, words);
    add_options(command, *options);
    runs_[&command] = [options, run] { return run(*options); };
    return command;
  }

  // nullptr: a group.
  const std::function<int()>* run_of(const CLI::App& command) const;

 private:
  CLI::App& root_;
  std::map<const CLI::App*, std::function<int()>> runs_;
};

// For an option or argument that takes one of a few words: errors suggest the nearest, completions offer them all.
CLI::Validator one_of(std::vector<std::string> words);
// Those words; empty for an option that takes anything.
std::vector<std::string> choices_of(const CLI::Option& option);

// An option that takes a size such as 64K, 1M or 10G.
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::uint64_t& bytes, const std::string& help);

// How an option is called in a sentence: "--bytes", or "TOPOLOGY" for an argument.
std::string name_of(const CLI::Option& option);
// What its value is called, in capitals and without the choices: "SIZE". Empty for a flag.
std::string value_name_of(const CLI::Option& option);
// "tutti plan simulate".
std::string path_of(const CLI::App& command);
// Those that people are told of: the others are in no group.
std::vector<const CLI::App*> commands_of(const CLI::App& command);

void add_plan_command(CLI::App& root, Commands& commands);
void add_demo_command(CLI::App& root, Commands& commands);
void add_check_command(CLI::App& root, Commands& commands);
void add_check_rank_command(CLI::App& root, Commands& commands);
void add_env_command(CLI::App& root, Commands& commands);
void add_meet_command(CLI::App& root, Commands& commands);
void add_inspect_command(CLI::App& root, Commands& commands);
void add_diagnose_command(CLI::App& root, Commands& commands);
void add_agent_command(CLI::App& root, Commands& commands);
void add_perf_command(CLI::App& root, Commands& commands);
void add_ps_command(CLI::App& root, Commands& commands);
void add_top_command(CLI::App& root, Commands& commands);
void add_kill_command(CLI::App& root, Commands& commands);

}  // namespace tutti::tool
