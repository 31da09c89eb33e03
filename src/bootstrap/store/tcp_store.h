// A store at a meeting point, for ranks that share nothing but a network.
#pragma once

#include <memory>

#include "bootstrap/identifier.h"
#include "bootstrap/store.h"
#include "rpc/courier.h"

namespace tutti::bootstrap {

// The store that whoever opened the meeting point serves. Fails when it cannot be reached in time.
Result<std::unique_ptr<Store>> open_tcp_store(const MeetingAddress& address, Deadline deadline);
// With a courier of the job, which outlives the store and has no other.
Result<std::unique_ptr<Store>> open_tcp_store(rpc::Courier& courier, const Contact& server, Deadline deadline);

}  // namespace tutti::bootstrap
