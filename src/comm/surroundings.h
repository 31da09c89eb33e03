// Where the ranks of a communicator over hosts are and how this rank gets to them, for people.
#pragma once

#include <string>

#include "comm/side.h"

namespace tutti::comm {

// Lines for the hosts, for what carries data between them, for the way to each other host, and for what was measured.
// Empty: all ranks are on one host.
std::string describe_surroundings(const Side& side);

}  // namespace tutti::comm
