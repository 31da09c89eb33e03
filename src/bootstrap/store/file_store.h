// A store in a file, for ranks that share a file system and nothing else.
#pragma once

#include <memory>
#include <string>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// The store lives as long as somebody has it open. The file goes with the last who closes it; one that killed processes
// have left behind is started anew. A file of another format or of another user is refused and stays as it is.
Result<std::unique_ptr<Store>> open_file_store(const std::string& path, Deadline deadline);

}  // namespace tutti::bootstrap
