// Answers to a command line that is wrong: one sentence that names the word, the command and the remedy.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tutti::tool {

// The first word that no command knows, an option that does not exist or that lacks its value. It is sought before the
// line is parsed, since the parser would rather complain of what is missing than of what is misspelt.
std::optional<std::string> find_slip(const CLI::App& root, const std::vector<std::string>& arguments);

// The sentence for what the parser found: a wrong value, a missing option, two that exclude each other.
std::string sentence_of(const CLI::App& root, const CLI::ParseError& error);

// The command that the line chose.
const CLI::App& chosen_of(const CLI::App& root);

}  // namespace tutti::tool
