// Handles that C programs hold: numbers that are never given twice, so that a destroyed one is known as such.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tutti::cudart {

// A mutex because handles are made and looked up from any thread.
template <class Handle, class Object>
class Handles {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    const auto handle = reinterpret_cast<Handle>(next_ += kStep);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  // nullptr: there is none.
  std::shared_ptr<Object> find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : objects_.extract(found).mapped();
  }

 private:
  static constexpr std::uintptr_t kStep = 16;
  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0x10000;  // small numbers mean something to streams, and are what mistakes look like
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace tutti::cudart
