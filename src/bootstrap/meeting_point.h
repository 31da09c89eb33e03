// The meeting points that this process has opened: each waits for the ranks of one job.
#pragma once

#include "rpc/courier.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {

// What actors speak of, and so the place they have with a courier.
inline constexpr rpc::Service kMembershipService = 1;
inline constexpr rpc::Service kStoreService = 2;

// Stays open until all ranks have met, or for as long as the process lives.
Result<Identifier> open_meeting_point();
// Of those whose ranks have met. Called now and then by whoever opens or joins one.
void close_finished_meeting_points();
// Before a process that holds one may end because its own start has failed: others learn why.
void let_meeting_points_answer();

}  // namespace tutti::bootstrap
