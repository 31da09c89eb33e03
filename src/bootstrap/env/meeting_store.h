// A store at a meeting point that rank 0 opens for it: for the processes of a job on several hosts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/env/launch.h"
#include "bootstrap/store.h"

namespace tutti::bootstrap {

// Gives rank 0's text to every rank, by something that only the processes of the job can read. `text` is rank 0's;
// that of the others is not looked at. It has printable letters without blanks.
using Broadcast = std::function<Result<std::string>(std::string_view text)>;

// Rank 0 opens a meeting point and gives its identifier to the others; where it cannot, they learn why.
Result<std::unique_ptr<Store>> open_broadcast_store(Rank rank, const Broadcast& broadcast, Deadline deadline);

// At "host:port", where rank 0 listens. What lets the others in comes from TUTTI_JOB_SECRET.
Result<std::unique_ptr<Store>> open_store_at(const std::string& address, Rank rank, Deadline deadline);

}  // namespace tutti::bootstrap
