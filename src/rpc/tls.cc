#include "rpc/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace tutti::rpc {

// How OpenSSL reads and writes our socket: its own way would raise SIGPIPE.
struct SocketMethod {
  static int write(BIO* bio, const char* data, int size) {
    auto& tls = *static_cast<Tls*>(::BIO_get_data(bio));
    ::BIO_clear_retry_flags(bio);
    const iovec part{const_cast<char*>(data), static_cast<std::size_t>(size)};
    return result_of(tls, tls.socket_->try_write({&part, 1}), bio, BIO_FLAGS_WRITE);
  }

  static int read(BIO* bio, char* data, int size) {
    auto& tls = *static_cast<Tls*>(::BIO_get_data(bio));
    ::BIO_clear_retry_flags(bio);
    const iovec part{data, static_cast<std::size_t>(size)};
    return result_of(tls, tls.socket_->try_read({&part, 1}), bio, BIO_FLAGS_READ);
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static int create(BIO* bio) {
    ::BIO_set_init(bio, 1);
    return 1;
  }

 private:
  static int result_of(Tls& tls, const Result<std::size_t>& count, BIO* bio, int direction) {
    if (count && *count > 0) return static_cast<int>(*count);
    if (count) {
      ::BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY);
    } else if (tls.failure_) {
      tls.failure_ = count.status();
    }
    return -1;
  }
};

namespace {

constexpr std::size_t kRecordBytes = 16384;  // the most that TLS puts in one record
constexpr std::array<unsigned char, 2> kCipher = {0x13, 0x01};
constexpr const char* kCipherName = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 5> kIdentity = {'t', 'u', 't', 't', 'i'};

std::string reason() {
  std::array<char, 256> text{};
  ::ERR_error_string_n(::ERR_peek_last_error(), text.data(), text.size());
  return text.data();
}

// The pre-shared key in the form in which OpenSSL takes it; the caller of the callback owns it.
SSL_SESSION* session_of(SSL* connection) {
  const auto* key = static_cast<const Secret*>(SSL_get_app_data(connection));
  SSL_SESSION* session = ::SSL_SESSION_new();
  const SSL_CIPHER* cipher = ::SSL_CIPHER_find(connection, kCipher.data());
  const auto* bytes = reinterpret_cast<const unsigned char*>(key->reveal().data());
  if (session != nullptr && cipher != nullptr && ::SSL_SESSION_set1_master_key(session, bytes, Secret::kBytes) == 1 &&
      ::SSL_SESSION_set_cipher(session, cipher) == 1 &&
      ::SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  ::SSL_SESSION_free(session);
  return nullptr;
}

int use_session(SSL* connection, const EVP_MD*, const unsigned char** identity, std::size_t* identity_bytes,
                SSL_SESSION** session) {
  *session = session_of(connection);
  *identity = kIdentity.data();
  *identity_bytes = kIdentity.size();
  return *session != nullptr ? 1 : 0;
}

int find_session(SSL* connection, const unsigned char* identity, std::size_t identity_bytes, SSL_SESSION** session) {
  *session = nullptr;
  if (!std::equal(kIdentity.begin(), kIdentity.end(), identity, identity + identity_bytes)) return 1;
  *session = session_of(connection);
  return *session != nullptr ? 1 : 0;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::create() {
  std::shared_ptr<TlsContext> made(new TlsContext());
  made->context_ = ::SSL_CTX_new(::TLS_method());
  made->socket_method_ = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tutti socket");
  SSL_CTX* context = made->context_;
  if (context == nullptr || made->socket_method_ == nullptr ||
      ::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      ::SSL_CTX_set_ciphersuites(context, kCipherName) != 1)
    return Status(Code::unsupported, fmt::format("this OpenSSL has no {}: {}", kCipherName, reason()));
  ::BIO_meth_set_write(made->socket_method_, SocketMethod::write);
  ::BIO_meth_set_read(made->socket_method_, SocketMethod::read);
  ::BIO_meth_set_ctrl(made->socket_method_, SocketMethod::control);
  ::BIO_meth_set_create(made->socket_method_, SocketMethod::create);
  ::SSL_CTX_set_psk_use_session_callback(context, use_session);
  ::SSL_CTX_set_psk_find_session_callback(context, find_session);
  // Every connection has a key of its own: there is nothing to resume.
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(context, 0);
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
  return std::shared_ptr<const TlsContext>(std::move(made));
}

TlsContext::~TlsContext() {
  ::SSL_CTX_free(context_);
  ::BIO_meth_free(socket_method_);
}

Result<std::unique_ptr<Tls>> Tls::create(std::shared_ptr<const TlsContext> context, Role role, const Secret& key) {
  std::unique_ptr<Tls> tls(new Tls(std::move(context), key));
  tls->connection_ = ::SSL_new(tls->context_->context_);
  BIO* bio = ::BIO_new(tls->context_->socket_method_);
  if (tls->connection_ == nullptr || bio == nullptr) {
    ::BIO_free(bio);
    return Status(Code::out_of_memory, fmt::format("OpenSSL cannot create a connection: {}", reason()));
  }
  ::BIO_set_data(bio, tls.get());
  ::SSL_set_bio(tls->connection_, bio, bio);
  SSL_set_app_data(tls->connection_, &tls->key_);
  if (role == Role::connector) {
    ::SSL_set_connect_state(tls->connection_);
  } else {
    ::SSL_set_accept_state(tls->connection_);
  }
  return tls;
}

Tls::~Tls() { ::SSL_free(connection_); }

bool Tls::has_buffered() const { return ::SSL_has_pending(connection_) == 1; }

Result<bool> Tls::outcome_of(int result) {
  if (result == 1) return true;
  const int error = ::SSL_get_error(connection_, result);
  if (error == SSL_ERROR_WANT_READ) return false;
  if (error == SSL_ERROR_WANT_WRITE) {
    wants_write_ = true;
    return false;
  }
  if (!failure_) return failure_;
  if (error == SSL_ERROR_ZERO_RETURN)
    failure_ = {Code::peer_lost, fmt::format("closed by {}", socket_->peer_text()), Scope::connection};
  else
    failure_ = {Code::network, fmt::format("the encryption with {} failed: {}", socket_->peer_text(), reason()),
                Scope::connection};
  return failure_;
}

Result<bool> Tls::handshake(os::TcpSocket& socket) {
  socket_ = &socket;
  wants_write_ = false;
  ::ERR_clear_error();
  return outcome_of(::SSL_do_handshake(connection_));
}

Result<std::size_t> Tls::read(os::TcpSocket& socket, std::span<const iovec> space) {
  socket_ = &socket;
  wants_write_ = false;
  std::size_t total = 0;
  for (const iovec& part : space) {
    std::size_t filled = 0;
    while (filled < part.iov_len) {
      std::size_t count = 0;
      ::ERR_clear_error();
      const auto outcome = outcome_of(
          ::SSL_read_ex(connection_, static_cast<char*>(part.iov_base) + filled, part.iov_len - filled, &count));
      if (!outcome && total == 0) return outcome.status();  // otherwise the next call says it
      if (!outcome || !*outcome) return total;
      filled += count;
      total += count;
    }
  }
  return total;
}

Status Tls::flush(os::TcpSocket& socket) {
  socket_ = &socket;
  wants_write_ = false;
  while (staged_from_ < staged_.size()) {
    std::size_t count = 0;
    ::ERR_clear_error();
    TUTTI_ASSIGN(const bool is_done, outcome_of(::SSL_write_ex(connection_, staged_.data() + staged_from_,
                                                               staged_.size() - staged_from_, &count)));
    if (!is_done) return {};
    staged_from_ += count;
  }
  staged_.clear();
  staged_from_ = 0;
  return {};
}

Result<std::size_t> Tls::write(os::TcpSocket& socket, std::span<const iovec> data) {
  TUTTI_TRY(flush(socket));
  std::size_t total = 0;
  std::size_t taken = 0;  // of the part at the front
  while (!data.empty() && staged_.empty()) {
    // Several small parts travel in one record.
    while (!data.empty() && staged_.size() < kRecordBytes) {
      const auto* bytes = static_cast<const std::byte*>(data.front().iov_base) + taken;
      const std::size_t count = std::min(data.front().iov_len - taken, kRecordBytes - staged_.size());
      append(staged_, {bytes, count});
      total += count;
      taken += count;
      if (taken < data.front().iov_len) break;
      data = data.subspan(1);
      taken = 0;
    }
    TUTTI_TRY(flush(socket));
  }
  return total;
}

}  // namespace tutti::rpc
