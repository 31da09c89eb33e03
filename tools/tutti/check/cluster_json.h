// A checked cluster as JSON (share/schemas/check-hosts.schema.json), and what a host sends of it line by line. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tools/tutti/check/cluster.h"
#include "tools/tutti/check/judgement.h"

namespace tutti::tool::check {

nlohmann::ordered_json json_of(const Cluster& cluster, const Tolerance& tolerance);

// What the process on a host prints: one of these a line, as soon as it is known, so that the end of a host takes
// nothing with it that was known before.
std::string line_of(const HostReport& report);
std::string line_of(const Pair& pair);
std::string failure_line(std::string_view failure);  // of the host as a whole

// Adds what a host has printed to the cluster. Lines that are something else are left out: a shell or a library may
// print as well. Of a pair that two hosts speak of, a measurement wins over a failure, the first over the second.
void add_lines(Cluster& cluster, Rank host, std::string_view lines);

}  // namespace tutti::tool::check
