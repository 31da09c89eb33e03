// The report of a host as JSON (share/schemas/check.schema.json), and back.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/tutti/check/host_report.h"
#include "tutti/status.h"

namespace tutti::tool::check {

nlohmann::ordered_json json_of(const HostReport& report);
// Another host may run another version of Tutti: what is missing there stays empty, what is more is left out. Fails
// where it is no report at all.
Result<HostReport> report_of(const nlohmann::ordered_json& json);

}  // namespace tutti::tool::check
