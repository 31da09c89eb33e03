#include "bootstrap/store/unix_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

#include "base/bytes.h"
#include "bootstrap/store/request.h"
#include "bootstrap/store/table.h"
#include "bootstrap/store/unix_server.h"
#include "os/clock.h"
#include "os/unix_socket.h"

namespace tutti::bootstrap {
namespace {

// A server that lives answers within microseconds; one that takes longer than this is stopped.
constexpr std::chrono::seconds kReplyWait{30};
// Of further connections to a server that is already known: it takes them at once or has ended.
constexpr std::chrono::seconds kReconnectWait{1};

Deadline reply_deadline() { return Deadline::after(os::now(), kReplyWait); }

// Threads use connections of their own while they talk, so that one may wait for a key that another one sets.
class UnixStore final : public Store {
 public:
  UnixStore(std::string path, std::unique_ptr<UnixServer> server)
      : path_(std::move(path)), server_(std::move(server)) {}
  Status begin(Deadline deadline);

  Status set(std::string_view key, std::span<const std::byte> value) override;
  Result<Bytes> wait(std::string_view key, Deadline deadline) override;
  Result<std::optional<Bytes>> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                 std::span<const std::byte> desired) override;
  void remove() noexcept override;

 private:
  Result<os::UnixSocket> connect(Deadline deadline) const;
  Result<os::UnixSocket> take_connection();
  Result<Reply> ask(const Request& request, Deadline deadline = Deadline::never());  // the deadline is of wait only
  Status explain(const Status& failure) const;

  std::string path_;
  std::unique_ptr<UnixServer> server_;  // of rank 0 only; it ends after this store's own connections
  std::mutex mutex_;
  std::vector<os::UnixSocket> idle_;
};

Result<Reply> receive_reply(os::UnixSocket& socket) {
  const Deadline deadline = reply_deadline();
  std::array<std::byte, kFrameHeaderBytes> header{};
  TUTTI_TRY(socket.receive_exactly(header, deadline));
  const auto bytes = *ByteReader(header).number<std::uint32_t>();
  if (bytes == 0 || bytes > kFrameBytesMax)
    return invalid_argument(fmt::format("a reply says it has {} bytes; there are 1 to {}", bytes, kFrameBytesMax));
  Bytes body(bytes);
  TUTTI_TRY(socket.receive_exactly(body, deadline));
  return parse_reply(body);
}

Result<Reply> talk(os::UnixSocket& socket, const Request& request, Deadline deadline) {
  TUTTI_TRY(socket.send_all(frame_of(request), reply_deadline()));
  if (request.kind == RequestKind::wait && !socket.wait_readable(deadline))
    TUTTI_TRY(socket.send_all(frame_of({.kind = RequestKind::give_up, .key = request.key}), reply_deadline()));
  return receive_reply(socket);
}

Status UnixStore::begin(Deadline deadline) {
  TUTTI_ASSIGN(os::UnixSocket socket, connect(deadline));
  idle_.push_back(std::move(socket));
  return {};
}

Result<os::UnixSocket> UnixStore::connect(Deadline deadline) const {
  TUTTI_ASSIGN(os::UnixSocket socket, os::UnixSocket::connect(path_, os::SocketKind::stream, deadline));
  TUTTI_ASSIGN(const uid_t user, socket.peer_user());
  if (user != ::geteuid())
    return invalid_argument(
        fmt::format("the store '{}' is served by user {} and this process runs as user {}; choose a "
                    "path in a directory of your own",
                    path_, user, ::geteuid()));
  return socket;
}

Result<os::UnixSocket> UnixStore::take_connection() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      os::UnixSocket socket = std::move(idle_.back());
      idle_.pop_back();
      return socket;
    }
  }
  auto socket = connect(Deadline::after(os::now(), kReconnectWait));
  if (!socket && socket.status().code() == Code::timed_out) return Status(Code::peer_lost, "nobody listens");
  return socket;
}

Status UnixStore::explain(const Status& failure) const {
  if (failure.code() == Code::peer_lost)
    return {Code::peer_lost, fmt::format("the store '{}' is gone: rank 0, which serves it, has ended", path_)};
  if (failure.code() == Code::timed_out)
    return {Code::peer_lost, fmt::format("rank 0, which serves the store '{}', has not answered for {} s; is it "
                                         "stopped?",
                                         path_, kReplyWait.count())};
  return failure.while_doing(fmt::format("using the store '{}'", path_));
}

// A connection that failed or that still owes a reply is not used again.
Result<Reply> UnixStore::ask(const Request& request, Deadline deadline) {
  auto socket = take_connection();
  if (!socket) return explain(socket.status());
  auto reply = talk(*socket, request, deadline);
  if (!reply) return explain(reply.status());
  const std::lock_guard lock(mutex_);
  idle_.push_back(*std::move(socket));
  if (reply->outcome == Outcome::failure) return Status(reply->code, std::string(text_of(reply->value)));
  return reply;
}

Status UnixStore::set(std::string_view key, std::span<const std::byte> value) {
  TUTTI_TRY(check_key(key));
  TUTTI_TRY(check_value(key, value.size()));
  Request request{.kind = RequestKind::set, .key = std::string(key)};
  request.value.assign(value.begin(), value.end());
  return ask(request).status();
}

Result<Bytes> UnixStore::wait(std::string_view key, Deadline deadline) {
  TUTTI_TRY(check_key(key));
  TUTTI_ASSIGN(Reply reply, ask({.kind = RequestKind::wait, .key = std::string(key)}, deadline));
  if (reply.outcome == Outcome::absent) return no_value_in_time(key);
  return std::move(reply.value);
}

Result<std::optional<Bytes>> UnixStore::get(std::string_view key) {
  TUTTI_TRY(check_key(key));
  TUTTI_ASSIGN(Reply reply, ask({.kind = RequestKind::get, .key = std::string(key)}));
  if (reply.outcome == Outcome::absent) return std::optional<Bytes>();
  return std::optional<Bytes>(std::move(reply.value));
}

Result<std::int64_t> UnixStore::add(std::string_view key, std::int64_t delta) {
  TUTTI_TRY(check_key(key));
  const Request request{.kind = RequestKind::add, .key = std::string(key), .delta = delta};
  TUTTI_ASSIGN(const Reply reply, ask(request));
  const auto sum = ByteReader(reply.value).number<std::int64_t>();
  if (!sum) return Status(Code::network, fmt::format("the store '{}' answered without a number", path_));
  return *sum;
}

Result<Bytes> UnixStore::compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                          std::span<const std::byte> desired) {
  TUTTI_TRY(check_key(key));
  TUTTI_TRY(check_value(key, expected.size()));
  TUTTI_TRY(check_value(key, desired.size()));
  Request request{.kind = RequestKind::compare_and_swap, .key = std::string(key)};
  request.expected.assign(expected.begin(), expected.end());
  request.value.assign(desired.begin(), desired.end());
  TUTTI_ASSIGN(Reply reply, ask(request));
  return std::move(reply.value);
}

void UnixStore::remove() noexcept {
  if (server_ != nullptr) server_->remove_path();
}

Result<std::unique_ptr<Store>> open(const std::string& path, std::unique_ptr<UnixServer> server, Deadline deadline) {
  auto store = std::make_unique<UnixStore>(path, std::move(server));
  TUTTI_TRY(store->begin(deadline));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<Store>> serve_unix_store(const std::string& path, Deadline deadline) {
  TUTTI_ASSIGN(auto server, UnixServer::start(path, deadline));
  return open(path, std::move(server), deadline);
}

Result<std::unique_ptr<Store>> connect_unix_store(const std::string& path, Deadline deadline) {
  return open(path, nullptr, deadline);
}

}  // namespace tutti::bootstrap
