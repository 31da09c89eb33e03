#include "rpc/secret.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "os/entropy.h"

namespace tutti::rpc {
namespace {

// OpenSSL would take itself down when main returns, while couriers that live as long as the process may still greet.
// It heeds this before it is used for the first time, which in this folder is always by way of hmac().
void keep_until_the_end() {
  [[maybe_unused]] static const int kept = ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

Digest hmac(std::span<const std::byte> key, std::span<const std::byte> message) {
  keep_until_the_end();
  Digest digest{};
  unsigned length = 0;
  const auto* done = ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
                            reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                            reinterpret_cast<unsigned char*>(digest.data()), &length);
  TUTTI_ASSERT(done != nullptr && length == digest.size(), "SHA-256 is in every OpenSSL");
  return digest;
}

int value_of_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

Secret::Secret(std::span<const std::byte, kBytes> bytes) : bytes_() { std::ranges::copy(bytes, bytes_.begin()); }

Secret::~Secret() { ::OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<Secret> Secret::create() {
  std::array<std::byte, kBytes> bytes{};
  TUTTI_TRY(os::fill_random(bytes));
  Secret secret{std::span<const std::byte, kBytes>(bytes)};
  ::OPENSSL_cleanse(bytes.data(), bytes.size());
  return secret;
}

Result<Secret> Secret::of_hex(std::string_view text) {
  const Status malformed(Code::invalid_argument,
                         fmt::format("a secret has {} hexadecimal digits, and here is something else", 2 * kBytes));
  if (text.size() != 2 * kBytes) return malformed;
  std::array<std::byte, kBytes> bytes{};
  for (std::size_t index = 0; index < kBytes; ++index) {
    const int high = value_of_digit(text[2 * index]);
    const int low = value_of_digit(text[2 * index + 1]);
    if (high < 0 || low < 0) return malformed;
    bytes[index] = static_cast<std::byte>(high * 16 + low);
  }
  Secret secret{std::span<const std::byte, kBytes>(bytes)};
  ::OPENSSL_cleanse(bytes.data(), bytes.size());
  return secret;
}

bool Secret::operator==(const Secret& other) const {
  return ::CRYPTO_memcmp(bytes_.data(), other.bytes_.data(), kBytes) == 0;
}

std::string reveal_hex(const Secret& secret) {
  std::string text;
  for (const std::byte byte : secret.reveal()) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

Digest authenticate(const Secret& key, std::initializer_list<std::span<const std::byte>> parts) {
  std::vector<std::byte> message;
  for (const auto part : parts) message.insert(message.end(), part.begin(), part.end());
  return hmac(key.reveal(), message);
}

Secret derive(const Secret& secret, std::span<const std::byte> salt, std::string_view label) {
  Digest extracted = hmac(salt, secret.reveal());
  std::vector<std::byte> info(reinterpret_cast<const std::byte*>(label.data()),
                              reinterpret_cast<const std::byte*>(label.data()) + label.size());
  info.push_back(std::byte{1});  // the first block of the expansion, which is as long as the key
  Digest expanded = hmac(extracted, info);
  const Secret derived{std::span<const std::byte, Secret::kBytes>(expanded)};
  ::OPENSSL_cleanse(extracted.data(), extracted.size());
  ::OPENSSL_cleanse(expanded.data(), expanded.size());
  return derived;
}

bool are_equal(const Digest& one, const Digest& other) {
  return ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace tutti::rpc
