#include "tools/tutti/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

namespace tutti::tool {

namespace {

template <class Visit>
void for_each_command(const CLI::App& command, const Visit& visit) {
  visit(command);
  for (const CLI::App* child : commands_of(command)) for_each_command(*child, visit);
}

std::vector<const CLI::Option*> flags_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// Words that may come next: commands, the choices of arguments, options.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* child : commands_of(command)) words.push_back(child->get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      for (const std::string& choice : choices_of(*option)) words.push_back(choice);
    } else {
      for (const std::string& name : names_of(*option)) words.push_back(name);
    }
  }
  return words;
}

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Branches of a case over "<command> <word>" that lead to the command a word names; the same in bash and zsh.
std::string path_branches(const CLI::App& root) {
  std::string text;
  for_each_command(root, [&](const CLI::App& command) {
    if (command.get_parent() == nullptr) return;
    text += fmt::format("      '{0}') route='{0}' ;;\n", path_of(command));
  });
  return text;
}

// Branches over "<command> <option>" for the value of the option.
std::string value_branches(const CLI::App& root, std::string_view with_choices, std::string_view with_anything) {
  std::string text;
  for_each_command(root, [&](const CLI::App& command) {
    for (const CLI::Option* option : flags_of(command)) {
      if (value_name_of(*option).empty()) continue;
      for (const std::string& name : names_of(*option)) {
        const auto choices = choices_of(*option);
        const std::string action = choices.empty() ? std::string(with_anything)
                                                   : fmt::format(fmt::runtime(with_choices), fmt::join(choices, " "));
        text += fmt::format("    '{} {}') {} ;;\n", path_of(command), name, action);
      }
    }
  });
  return text;
}

// In zsh's lists a colon parts a word from its explanation.
std::string described(const std::string& word, const std::string& explanation) {
  std::string escaped;
  for (const char c : word) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(escaped + ":" + explanation);
}

std::string zsh_list_of(const CLI::App& command) {
  std::vector<std::string> entries;
  for (const CLI::App* child : commands_of(command)) {
    entries.push_back(described(child->get_name(), child->get_description()));
  }
  for (const CLI::Option* option : command.get_options()) {
    const auto names = option->get_positional() ? choices_of(*option) : names_of(*option);
    for (const std::string& name : names) entries.push_back(described(name, option->get_description()));
  }
  return fmt::format("{}", fmt::join(entries, " "));
}

std::string fish_option(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_lnames()) text += fmt::format(" -l {}", name);
  for (const std::string& name : option.get_snames()) text += fmt::format(" -s {}", name);
  const auto choices = choices_of(option);
  if (!choices.empty()) return text + fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(choices, " "))));
  return value_name_of(option).empty() ? text : text + " -r";
}

struct CompletionOptions {
  std::string shell;
};

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::string words;
  for_each_command(root, [&](const CLI::App& command) {
    words += fmt::format("    '{}') words='{}' ;;\n", path_of(command), fmt::join(words_of(command), " "));
  });
  return fmt::format(R"(# bash completion for tutti; made by `tutti completion bash`.
_tutti() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local route=tutti words='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$route $word" in
{}    esac
  done
  COMPREPLY=()
  case "$route" in
{}  esac
  case "$route $previous" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tutti tutti
)",
                     path_branches(root), words, value_branches(root, "words='{}'", "return"));
}

std::string zsh_completion(const CLI::App& root) {
  std::string lists;
  for_each_command(root, [&](const CLI::App& command) {
    lists += fmt::format("    '{}') list=({}) ;;\n", path_of(command), zsh_list_of(command));
  });
  return fmt::format(R"(#compdef tutti
# zsh completion for tutti; made by `tutti completion zsh`.
_tutti() {{
  local route=tutti word
  local -a list
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$route $word" in
{}    esac
  done
  case "$route" in
{}  esac
  case "$route ${{words[CURRENT-1]}}" in
{}  esac
  _describe 'tutti' list || _files
}}
if [[ "$funcstack[1]" == _tutti ]]; then
  _tutti "$@"
else
  compdef _tutti tutti
fi
)",
                     path_branches(root), lists, value_branches(root, "list=({})", "_files; return"));
}

std::string fish_completion(const CLI::App& root) {
  std::string branches;
  std::string entries;
  for_each_command(root, [&](const CLI::App& command) {
    const std::string path = path_of(command);
    const std::string here = fmt::format("complete -c tutti -n 'test (__tutti_path) = \"{}\"'", path);
    if (command.get_parent() != nullptr) branches += fmt::format("      case '{0}'\n        set path '{0}'\n", path);
    for (const CLI::App* child : commands_of(command)) {
      entries += fmt::format("{} -f -a {} -d {}\n", here, child->get_name(), quoted(child->get_description()));
    }
    for (const CLI::Option* option : command.get_options()) {
      const auto choices = fmt::format("{}", fmt::join(choices_of(*option), " "));
      if (option->get_positional() && choices.empty()) continue;  // files, which fish offers by itself
      const std::string what = option->get_positional() ? " -f -a " + quoted(choices) : fish_option(*option);
      entries += fmt::format("{}{} -d {}\n", here, what, quoted(option->get_description()));
    }
  });
  return fmt::format(R"(# fish completion for tutti; made by `tutti completion fish`.
function __tutti_path
  set -l path tutti
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
{}    end
  end
  echo $path
end
{})",
                     branches, entries);
}

void add_completion_command(CLI::App& root, Commands& commands) {
  const Words words = {"completion", "Print the completion script of a shell.",
                       "tutti completion bash > ~/.local/share/bash-completion/completions/tutti\n"
                       "tutti completion zsh > ~/.zfunc/_tutti\n"
                       "tutti completion fish > ~/.config/fish/completions/tutti.fish"};
  commands.add<CompletionOptions>(
      root, words,
      [](CLI::App& command, CompletionOptions& options) {
        command.add_option("SHELL", options.shell, "The shell to print it for")
            ->required()
            ->type_name("NAME")
            ->check(one_of({"bash", "zsh", "fish"}));
      },
      [&root](const CompletionOptions& options) {
        const std::string script = options.shell == "bash"  ? bash_completion(root)
                                   : options.shell == "zsh" ? zsh_completion(root)
                                                            : fish_completion(root);
        std::fputs(script.c_str(), stdout);
        return kExitDone;
      });
}

}  // namespace tutti::tool
