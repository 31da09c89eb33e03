// The keys and values of a store and what its operations mean, the same for every kind of store.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

// What all keys and values of a store may take together, so that a rank gone wild does not take the machine with it.
inline constexpr std::size_t kTableBytesMax = std::size_t{1} << 30;

Status check_key(std::string_view key);
Status check_value(std::string_view key, std::size_t value_bytes);

class Table {
 public:
  const Bytes* find(std::string_view key) const;  // nullptr: not there; valid until the next set
  Status set(std::string_view key, std::span<const std::byte> value);
  // Success: set() with the same arguments succeeds.
  Status check_room(std::string_view key, std::size_t value_bytes) const;

 private:
  std::map<std::string, Bytes, std::less<>> values_;
  std::size_t bytes_ = 0;
};

Bytes value_of_counter(std::int64_t counter);
// What the counter is after `delta` is added. `current` is what the key has now, or nullptr.
Result<std::int64_t> counter_after(std::string_view key, const Bytes* current, std::int64_t delta);
bool matches(const Bytes* current, std::span<const std::byte> expected);

Status no_value_in_time(std::string_view key);  // what wait() returns at its deadline

}  // namespace tutti::bootstrap
