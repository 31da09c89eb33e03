// A store with something that has to end after it.
#pragma once

#include <functional>
#include <memory>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// `end` is called once, after the store has been destroyed.
std::unique_ptr<Store> create_kept_store(std::unique_ptr<Store> store, std::function<void()> end);

}  // namespace tutti::bootstrap
