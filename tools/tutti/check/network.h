// What `tutti check` finds of settings and network interfaces.
#pragma once

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

Finding find_settings();
// Which would be used, and why not the others.
Finding find_interfaces();
// What would carry data to other hosts, TCP or UCX.
Finding find_carrier();
// Whether a connection to each address of the chosen interfaces comes in, as a firewall may forbid.
Finding find_reach();

}  // namespace tutti::tool::check
