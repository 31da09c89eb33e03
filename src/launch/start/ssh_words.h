// The words of the ssh command that starts an agent on another host. Pure.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/settings.h"

namespace tutti::launch {

// `words` as one word that a shell on the other side takes apart into the same words again.
std::string quoted(std::span<const std::string> words);

// `ssh -o BatchMode=yes ... -- HOST 'COMMAND'`. The user's options come first, because ssh takes the first of several.
// Nothing secret goes in here: arguments can be read by every user of both machines.
std::vector<std::string> ssh_words(const SshSettings& settings, std::chrono::seconds start_timeout,
                                   const std::string& host, std::span<const std::string> command);

// "gpu12" of "user@gpu12".
std::string_view bare_name(std::string_view host);

}  // namespace tutti::launch
