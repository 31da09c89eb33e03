#include "bootstrap/store/process_store.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "bootstrap/store/table.h"
#include "os/clock.h"

namespace tutti::bootstrap {
namespace {

class ProcessStore final : public Store {
 public:
  Status set(std::string_view key, std::span<const std::byte> value) override {
    const std::lock_guard lock(mutex_);
    return change(key, value);
  }

  Result<Bytes> wait(std::string_view key, Deadline deadline) override {
    TUTTI_TRY(check_key(key));
    std::unique_lock lock(mutex_);
    while (true) {
      if (const Bytes* value = table_.find(key); value != nullptr) return *value;
      const Time time = os::now();
      if (deadline.has_passed(time)) return no_value_in_time(key);
      constexpr std::uint64_t kSliceNs = 3'600'000'000'000;  // far deadlines do not fit the clocks of the library
      changed_.wait_for(lock, std::chrono::nanoseconds(std::min(deadline.at.ns - time.ns, kSliceNs)));
    }
  }

  Result<std::optional<Bytes>> get(std::string_view key) override {
    TUTTI_TRY(check_key(key));
    const std::lock_guard lock(mutex_);
    const Bytes* value = table_.find(key);
    return value == nullptr ? std::optional<Bytes>() : std::optional<Bytes>(*value);
  }

  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override {
    const std::lock_guard lock(mutex_);
    TUTTI_ASSIGN(const std::int64_t sum, counter_after(key, table_.find(key), delta));
    TUTTI_TRY(change(key, value_of_counter(sum)));
    return sum;
  }

  Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                 std::span<const std::byte> desired) override {
    TUTTI_TRY(check_key(key));
    const std::lock_guard lock(mutex_);
    const Bytes* current = table_.find(key);
    if (!matches(current, expected)) return current == nullptr ? Bytes() : *current;
    TUTTI_TRY(change(key, desired));
    return Bytes(desired.begin(), desired.end());
  }

  void remove() noexcept override {}

 private:
  Status change(std::string_view key, std::span<const std::byte> value) {
    TUTTI_TRY(table_.set(key, value));
    changed_.notify_all();
    return {};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Table table_;
};

}  // namespace

std::unique_ptr<Store> create_process_store() { return std::make_unique<ProcessStore>(); }

}  // namespace tutti::bootstrap
