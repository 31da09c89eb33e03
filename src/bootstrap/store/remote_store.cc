#include "bootstrap/store/remote_store.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "bootstrap/store/table.h"

namespace tutti::bootstrap {
namespace {

class RemoteStore final : public Store {
 public:
  explicit RemoteStore(std::unique_ptr<Asker> asker) : asker_(std::move(asker)) {}

  Status set(std::string_view key, std::span<const std::byte> value) override {
    TUTTI_TRY(check_key(key));
    TUTTI_TRY(check_value(key, value.size()));
    Request request{.kind = RequestKind::set, .key = std::string(key)};
    request.value.assign(value.begin(), value.end());
    return ask(request).status();
  }

  Result<Bytes> wait(std::string_view key, Deadline deadline) override {
    TUTTI_TRY(check_key(key));
    TUTTI_ASSIGN(Reply reply, ask({.kind = RequestKind::wait, .key = std::string(key)}, deadline));
    if (reply.outcome == Outcome::absent) return no_value_in_time(key);
    return std::move(reply.value);
  }

  Result<std::optional<Bytes>> get(std::string_view key) override {
    TUTTI_TRY(check_key(key));
    TUTTI_ASSIGN(Reply reply, ask({.kind = RequestKind::get, .key = std::string(key)}));
    if (reply.outcome == Outcome::absent) return std::optional<Bytes>();
    return std::optional<Bytes>(std::move(reply.value));
  }

  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override {
    TUTTI_TRY(check_key(key));
    TUTTI_ASSIGN(const Reply reply, ask({.kind = RequestKind::add, .key = std::string(key), .delta = delta}));
    const auto sum = ByteReader(reply.value).number<std::int64_t>();
    if (!sum) return Status(Code::network, fmt::format("the store answered without a number for counter '{}'", key));
    return *sum;
  }

  Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                 std::span<const std::byte> desired) override {
    TUTTI_TRY(check_key(key));
    TUTTI_TRY(check_value(key, expected.size()));
    TUTTI_TRY(check_value(key, desired.size()));
    Request request{.kind = RequestKind::compare_and_swap, .key = std::string(key)};
    request.expected.assign(expected.begin(), expected.end());
    request.value.assign(desired.begin(), desired.end());
    TUTTI_ASSIGN(Reply reply, ask(request));
    return std::move(reply.value);
  }

  void remove() noexcept override { asker_->remove(); }

 private:
  Result<Reply> ask(const Request& request, Deadline deadline = Deadline::never()) {
    TUTTI_ASSIGN(Reply reply, asker_->ask(request, deadline));
    if (reply.outcome == Outcome::failure) return Status(reply.code, std::string(text_of(reply.value)));
    return reply;
  }

  std::unique_ptr<Asker> asker_;
};

}  // namespace

std::unique_ptr<Store> create_remote_store(std::unique_ptr<Asker> asker) {
  return std::make_unique<RemoteStore>(std::move(asker));
}

}  // namespace tutti::bootstrap
