// What `tutti check` finds of settings and network interfaces.
#pragma once

#include "tools/tutti/finding.h"

namespace tutti::tool {

Finding check_settings();
// Which would be used, and why not the others.
Finding check_interfaces();
// What would carry data to other hosts, TCP or UCX.
Finding check_carrier();

}  // namespace tutti::tool
