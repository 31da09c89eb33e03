#include "bootstrap/store/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace tutti::bootstrap {

Status check_key(std::string_view key) {
  if (key.empty()) return invalid_argument("a store has no empty key; give the key a name");
  if (key.size() > kKeyBytesMax)
    return invalid_argument(fmt::format("the key '{}...' has {} bytes; a store takes at most {}", key.substr(0, 32),
                                        key.size(), kKeyBytesMax));
  return {};
}

Status check_value(std::string_view key, std::size_t value_bytes) {
  if (value_bytes <= kValueBytesMax) return {};
  return invalid_argument(
      fmt::format("the value of key '{}' has {} bytes; a store takes at most {}", key, value_bytes, kValueBytesMax));
}

const Bytes* Table::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Status Table::check_room(std::string_view key, std::size_t value_bytes) const {
  TUTTI_TRY(check_key(key));
  TUTTI_TRY(check_value(key, value_bytes));
  if (bytes_ + key.size() + value_bytes <= kTableBytesMax) return {};
  return {Code::out_of_memory, fmt::format("the store has no room for key '{}': all keys and values together may have "
                                           "{} bytes",
                                           key, kTableBytesMax)};
}

Status Table::set(std::string_view key, std::span<const std::byte> value) {
  TUTTI_TRY(check_room(key, value.size()));
  const auto [entry, is_new] = values_.try_emplace(std::string(key));
  bytes_ += value.size() + (is_new ? key.size() : 0) - entry->second.size();
  entry->second.assign(value.begin(), value.end());
  return {};
}

Bytes value_of_counter(std::int64_t counter) {
  Bytes value;
  append_number(value, counter);
  return value;
}

Result<std::int64_t> counter_after(std::string_view key, const Bytes* current, std::int64_t delta) {
  std::int64_t before = 0;
  if (current != nullptr) {
    if (current->size() != sizeof(before))
      return Status(
          Code::invalid_usage,
          fmt::format("key '{}' holds {} bytes and is no counter; add() needs a key of its own", key, current->size()));
    before = *ByteReader(*current).number<std::int64_t>();
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(before, delta, &sum))
    return Status(Code::invalid_usage, fmt::format("counter '{}' is {} and can not take {} more", key, before, delta));
  return sum;
}

bool matches(const Bytes* current, std::span<const std::byte> expected) {
  if (current == nullptr) return expected.empty();
  return std::equal(current->begin(), current->end(), expected.begin(), expected.end());
}

Status no_value_in_time(std::string_view key) {
  return {Code::timed_out, fmt::format("nobody has set key '{}' in time", key)};
}

}  // namespace tutti::bootstrap
