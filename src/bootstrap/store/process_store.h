// A store in memory, for the ranks of one process.
#pragma once

#include <memory>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

std::unique_ptr<Store> create_process_store();  // all threads use this one object

}  // namespace tutti::bootstrap
