#include "rpc/greeting.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "os/entropy.h"

namespace tutti::rpc {
namespace {

constexpr std::size_t kLengthBytes = 2;

Result<Hello> create_hello(const Credentials& credentials, Role role, Purpose purpose) {
  Hello hello;
  hello.role = role;
  hello.purpose = purpose;
  hello.encryption = credentials.tls == nullptr ? Encryption::off : Encryption::on;
  hello.id = credentials.id;
  TUTTI_TRY(os::fill_random(hello.nonce));
  return hello;
}

}  // namespace

Result<Credentials> Credentials::create(const Secret& secret, Encryption encryption, ActorId id) {
  Credentials credentials{secret, nullptr, id};
  if (encryption == Encryption::on) {
    TUTTI_ASSIGN(credentials.tls, TlsContext::create());
  }
  return credentials;
}

Greeting::Greeting(os::TcpSocket socket, const Credentials& credentials, const Hello& self, Bytes announcement)
    : tls_(credentials.tls),
      role_(self.role),
      handshake_(credentials.secret, self),
      conduit_(std::move(socket)),
      announcement_(std::move(announcement)),
      output_(handshake_.take_output()) {}

Result<Greeting> Greeting::of_connector(os::TcpSocket socket, const Credentials& credentials, Purpose purpose,
                                        Bytes announcement) {
  if (announcement.size() > kAnnouncementBytesMax)
    return invalid_argument(fmt::format("the announcement of a data connection has {} bytes; at most {} are possible",
                                        announcement.size(), kAnnouncementBytesMax));
  TUTTI_ASSIGN(const Hello hello, create_hello(credentials, Role::connector, purpose));
  Bytes counted;
  if (purpose == Purpose::data) {
    counted.resize(kLengthBytes);
    store_number(std::span(counted), static_cast<std::uint16_t>(announcement.size()));
    append(counted, announcement);
  }
  return Greeting(std::move(socket), credentials, hello, std::move(counted));
}

Result<Greeting> Greeting::of_acceptor(os::TcpSocket socket, const Credentials& credentials) {
  TUTTI_ASSIGN(const Hello hello, create_hello(credentials, Role::acceptor, Purpose::control));
  return Greeting(std::move(socket), credentials, hello, {});
}

Status Greeting::fail(Fault fault, const Status& why) {
  if (fault_ == Fault::none) fault_ = fault;
  return why.while_doing(fmt::format("greeting {}", peer_text()));
}

Status Greeting::flush() {
  while (!output_.empty()) {
    const iovec part{output_.data(), output_.size()};
    const auto count = conduit_.write({&part, 1});
    if (!count) return fail(Fault::closed, count.status());
    if (*count == 0) return {};
    output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(*count));
  }
  if (const Status status = conduit_.flush(); !status) return fail(Fault::closed, status);
  return {};
}

Result<bool> Greeting::encrypt() {
  if (tls_ == nullptr) return true;
  if (conduit_.tls_ == nullptr) {
    TUTTI_ASSIGN(conduit_.tls_, Tls::create(tls_, role_, handshake_.derive_key("tutti tls")));
  }
  auto is_done = conduit_.tls_->handshake(conduit_.socket_);
  if (is_done) return is_done;
  if (is_done.status().code() == Code::peer_lost) return fail(Fault::closed, is_done.status());
  // Both sides have agreed on everything but the key.
  return fail(Fault::wrong_secret,
              Status(Code::invalid_argument, "the other side does not know this job's secret", Scope::connection));
}

Result<Bytes> Greeting::read(std::size_t count_max) {
  Bytes bytes(count_max);
  const iovec part{bytes.data(), bytes.size()};
  const auto count = conduit_.read({&part, 1});
  if (!count) return fail(Fault::closed, count.status());
  bytes.resize(*count);
  return bytes;
}

Status Greeting::take_handshake_bytes(const Bytes& bytes) {
  const Status status = handshake_.receive(bytes);
  append(output_, handshake_.take_output());
  if (!status) {
    static_cast<void>(flush());  // the other side should know why, if it takes it at once
    return status.while_doing(fmt::format("greeting {}", peer_text()));
  }
  if (handshake_.stage() == Handshake::Stage::done && role_ == Role::connector)
    append(output_, std::exchange(announcement_, {}));
  return {};
}

std::size_t Greeting::announcement_bytes_wanted() const {
  if (role_ == Role::connector || handshake_.purpose() == Purpose::control) return 0;
  if (announcement_.size() < kLengthBytes) return kLengthBytes - announcement_.size();
  return kLengthBytes + load_number<std::uint16_t>(announcement_) - announcement_.size();
}

Status Greeting::take_announcement_bytes(const Bytes& bytes) {
  append(announcement_, bytes);
  if (announcement_.size() < kLengthBytes) return {};
  const auto count = load_number<std::uint16_t>(announcement_);
  if (count <= kAnnouncementBytesMax) return {};
  return fail(Fault::garbage, Status(Code::network, fmt::format("an announcement of {} bytes; at most {} are possible",
                                                                count, kAnnouncementBytesMax)));
}

Result<bool> Greeting::advance() {
  while (true) {
    TUTTI_TRY(flush());
    if (wants_write()) return false;
    if (handshake_.stage() == Handshake::Stage::agreed) {
      TUTTI_ASSIGN(const bool is_encrypted, encrypt());
      if (!is_encrypted) return false;
      handshake_.begin_proofs();
      append(output_, handshake_.take_output());
      continue;
    }
    const bool is_proven = handshake_.stage() == Handshake::Stage::done;
    const std::size_t wanted = is_proven ? announcement_bytes_wanted() : handshake_.bytes_wanted();
    if (is_proven && wanted == 0) return true;
    TUTTI_ASSIGN(const Bytes bytes, read(wanted));
    if (bytes.empty()) return false;
    TUTTI_TRY(is_proven ? take_announcement_bytes(bytes) : take_handshake_bytes(bytes));
  }
}

Greeted Greeting::take() && {
  TUTTI_ASSERT(handshake_.stage() == Handshake::Stage::done, "only who has proved itself is let in");
  if (announcement_.size() >= kLengthBytes)
    announcement_.erase(announcement_.begin(), announcement_.begin() + kLengthBytes);
  return {handshake_.peer(), std::move(announcement_), std::move(conduit_)};
}

}  // namespace tutti::rpc
