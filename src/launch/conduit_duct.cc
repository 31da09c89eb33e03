#include "launch/conduit_duct.h"

#include <sys/uio.h>

#include <utility>

namespace tutti::launch {

namespace {

class ConduitDuct final : public Duct {
 public:
  explicit ConduitDuct(rpc::Conduit conduit) : conduit_(std::move(conduit)) {}

  // An encrypted conduit may hold bytes that polling does not announce, so all space is filled that can be.
  Result<std::size_t> read(std::span<std::byte> space) override {
    std::size_t filled = 0;
    while (filled < space.size()) {
      const iovec part{.iov_base = space.data() + filled, .iov_len = space.size() - filled};
      const auto count = conduit_.read(std::span(&part, 1));
      if (!count && filled > 0) return filled;  // the next call says the same again
      TUTTI_TRY(count.status());
      filled += *count;
      if (*count == 0 || !conduit_.has_buffered()) break;
    }
    return filled;
  }
  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    const iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
    return conduit_.write(std::span(&part, 1));
  }
  bool wants_write() const override { return conduit_.wants_write(); }
  Status flush() override { return conduit_.flush(); }
  int read_fd() const override { return conduit_.fd(); }
  int write_fd() const override { return conduit_.fd(); }
  void close_write() override { conduit_.shutdown_write(); }

 private:
  rpc::Conduit conduit_;
};

}  // namespace

std::unique_ptr<Duct> create_conduit_duct(rpc::Conduit conduit) {
  return std::make_unique<ConduitDuct>(std::move(conduit));
}

}  // namespace tutti::launch
