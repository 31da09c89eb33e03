// What the flight recorder of a rank says for `tutti top`: its call, whom it waits for, how much it moves.
#pragma once

#include <functional>
#include <vector>

#include "comm/watch/recording.h"
#include "launch/message.h"

namespace tutti::tool {

// Puts it into samples, as far as the process or one that descends from it has a recorder. Called again and again.
std::function<void(launch::Sample&)> create_sample_completion();

// Of all communicators of one process. Pure.
void describe(const std::vector<comm::watch::Recording>& recordings, launch::Sample& sample);

}  // namespace tutti::tool
