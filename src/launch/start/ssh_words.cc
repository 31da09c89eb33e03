#include "launch/start/ssh_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::launch {

namespace {

constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";

void append_quoted(std::string& line, std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    line += word;
    return;
  }
  line += '\'';
  for (const char letter : word) {
    if (letter == '\'') {
      line += R"('\'')";
    } else {
      line += letter;
    }
  }
  line += '\'';
}

}  // namespace

std::string quoted(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    append_quoted(line, word);
  }
  return line;
}

std::vector<std::string> ssh_words(const SshSettings& settings, std::chrono::seconds start_timeout,
                                   const std::string& host, std::span<const std::string> command) {
  std::vector<std::string> words{settings.program};
  const auto add_option = [&](std::string option) {
    words.emplace_back("-o");
    words.push_back(std::move(option));
  };
  for (const std::string& option : settings.options) add_option(option);
  add_option("BatchMode=yes");  // a question would be asked where nobody answers
  add_option(fmt::format("ConnectTimeout={}", std::max<std::int64_t>(1, start_timeout.count())));
  add_option("ServerAliveInterval=10");  // a host that is switched off does not close its connections
  add_option("ServerAliveCountMax=3");
  words.insert(words.end(), {"-T", "-x", "-a"});  // no terminal, nothing of the user's desktop or keys
  if (settings.port) words.insert(words.end(), {"-p", fmt::to_string(*settings.port)});
  if (!settings.identity.empty()) words.insert(words.end(), {"-i", settings.identity});
  if (!settings.jump.empty()) words.insert(words.end(), {"-J", settings.jump});
  words.insert(words.end(), {"--", host, quoted(command)});
  return words;
}

std::string_view bare_name(std::string_view host) {
  const auto at = host.rfind('@');
  return at == std::string_view::npos ? host : host.substr(at + 1);
}

}  // namespace tutti::launch
