// How long the calls of a group would take and how they would run, as the planner sees it.
#pragma once

#include <span>
#include <string>

#include <nccl.h>
#include "nccl/group.h"
#include "tutti/status.h"

namespace tutti::nccl {

Status validate_sim_info(const ncclSimInfo_t& info);
// Communicators work at the same time, calls of one of them one after the other.
double estimate_us(std::span<const Enqueued> calls);
// How those of the first communicator would run, and why.
std::string explain(std::span<const Enqueued> calls);

}  // namespace tutti::nccl
