// Where the ranks of a communicator over hosts are and how this rank gets to them, for people.
#pragma once

#include <string>

#include "comm/side.h"

namespace tutti::comm {

// A line for the hosts, one for the way to each other host, what carries data there, and what was measured. Empty: all
// ranks are on one host.
std::string describe_surroundings(const Side& side);

}  // namespace tutti::comm
