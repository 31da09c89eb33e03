#include "bootstrap/env/kept_store.h"

#include <utility>

namespace tutti::bootstrap {
namespace {

class KeptStore final : public Store {
 public:
  KeptStore(std::unique_ptr<Store> store, std::function<void()> end) : store_(std::move(store)), end_(std::move(end)) {}
  KeptStore(const KeptStore&) = delete;
  KeptStore& operator=(const KeptStore&) = delete;
  ~KeptStore() override {
    store_.reset();
    end_();
  }

  Status set(std::string_view key, std::span<const std::byte> value) override { return store_->set(key, value); }
  Result<Bytes> wait(std::string_view key, Deadline deadline) override { return store_->wait(key, deadline); }
  Result<std::optional<Bytes>> get(std::string_view key) override { return store_->get(key); }
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override { return store_->add(key, delta); }
  Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                 std::span<const std::byte> desired) override {
    return store_->compare_and_swap(key, expected, desired);
  }
  void remove() noexcept override { store_->remove(); }

 private:
  std::unique_ptr<Store> store_;
  std::function<void()> end_;
};

}  // namespace

std::unique_ptr<Store> create_kept_store(std::unique_ptr<Store> store, std::function<void()> end) {
  return std::make_unique<KeptStore>(std::move(store), std::move(end));
}

}  // namespace tutti::bootstrap
