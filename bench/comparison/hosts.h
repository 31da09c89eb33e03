// Who takes part in bench/compare --hosts, and how each is started across the hosts of a lab.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison/contenders.h"
#include "bench/comparison/targets.h"

namespace tutti::bench {

// False while communicators reach only their own host; then only the peers are timed across hosts.
inline constexpr bool kTuttiCrossesHosts = true;

std::vector<Contender> contenders_across_hosts();

// The processes of one run; the ranks fill one host after the other, the same number each. The environment must have
// TUTTI_LAB, as lab_shell reads it. The programs lie in `folder`; `store` is a path that exists only for this run.
std::vector<Command> commands_across_hosts(const Contender& contender, const Request& request, const Network& network,
                                           const std::string& folder, const std::string& store);

}  // namespace tutti::bench
