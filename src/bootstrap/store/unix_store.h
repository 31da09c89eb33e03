// A store behind a Unix socket that one rank serves, for the ranks of one machine.
#pragma once

#include <memory>
#include <string>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// Serves the store and uses it. The path goes when the store is destroyed; those who are connected then get a moment to
// finish (UnixServer::kLinger).
Result<std::unique_ptr<Store>> serve_unix_store(const std::string& path, Deadline deadline);
// Waits until somebody serves it.
Result<std::unique_ptr<Store>> connect_unix_store(const std::string& path, Deadline deadline);

}  // namespace tutti::bootstrap
