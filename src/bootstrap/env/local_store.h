// A store for the processes of a job that are all on this host.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// In a folder of the job below `root` (the value of TMPDIR, or /tmp), which is for this user alone and goes with the
// last process. Rank 0 serves the store.
Result<std::unique_ptr<Store>> open_local_store(std::string_view job, Rank rank, const std::string& root,
                                                Deadline deadline);

// The folder's path: the same for all processes of the job and of the user, and short enough for sockets.
std::string local_folder_of(std::string_view job, const std::string& root);

}  // namespace tutti::bootstrap
