// Asks every host by ssh whether it can be reached and has Tutti, before anything is started there.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/settings.h"

namespace tutti::tool::check {

// By host of the layout: why it cannot take part, in ssh's own words where ssh says it; empty: it can. Many hosts are
// asked at the same time. `machine` is the name of this one, which needs no ssh.
std::vector<std::string> ask_hosts(const launch::Settings& settings, const std::string& machine,
                                   std::chrono::seconds patience);

}  // namespace tutti::tool::check
