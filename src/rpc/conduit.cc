#include "rpc/conduit.h"

namespace tutti::rpc {

Status Conduit::read_exactly(std::span<std::byte> space, Deadline deadline) {
  while (!space.empty()) {
    const iovec part{space.data(), space.size()};
    TUTTI_ASSIGN(const std::size_t count, read({&part, 1}));
    space = space.subspan(count);
    if (count != 0) continue;
    if (wants_write()) TUTTI_TRY(socket_.wait_writable(deadline));
    if (wants_write()) TUTTI_TRY(flush());
    TUTTI_TRY(socket_.wait_readable(deadline));
  }
  return {};
}

Status Conduit::write_all(std::span<const std::byte> data, Deadline deadline) {
  while (!data.empty() || wants_write()) {
    std::size_t count = 0;
    if (data.empty()) {
      TUTTI_TRY(flush());
    } else {
      const iovec part{const_cast<std::byte*>(data.data()), data.size()};
      TUTTI_ASSIGN(count, write({&part, 1}));
    }
    data = data.subspan(count);
    if (count == 0 && (!data.empty() || wants_write())) TUTTI_TRY(socket_.wait_writable(deadline));
  }
  return {};
}

}  // namespace tutti::rpc
