// `tutti check -H`: asks all hosts, has them measure, and puts together what they say.
#pragma once

#include <string>

#include "launch/settings.h"
#include "tools/tutti/check/cluster.h"
#include "tutti/status.h"

namespace tutti::tool::check {

// `settings` have one rank on each host, and no command or output yet. Says on stderr how long it takes and how far it
// is. Hosts that cannot be reached are part of the result, like all that hosts find; a failure means that nothing could
// be tried at all.
Result<Cluster> check_hosts(launch::Settings settings, const std::string& machine);

}  // namespace tutti::tool::check
