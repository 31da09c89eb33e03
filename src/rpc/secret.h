// The 256 bits that the processes of one job share and nobody else knows, and what is computed with them.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tutti/status.h"

namespace tutti::rpc {

// Cannot be printed, is compared in constant time and overwritten when it is destroyed.
class Secret {
 public:
  static constexpr std::size_t kBytes = 32;

  static Result<Secret> create();                       // at random
  static Result<Secret> of_hex(std::string_view text);  // 64 digits; the failure does not repeat them
  explicit Secret(std::span<const std::byte, kBytes> bytes);
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  bool operator==(const Secret& other) const;
  // For those who compute with it or hand it to a process of the same job, and for nobody else.
  std::span<const std::byte, kBytes> reveal() const { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_;
};

std::string reveal_hex(const Secret& secret);

using Digest = std::array<std::byte, 32>;

// HMAC-SHA-256 of the parts in a row.
Digest authenticate(const Secret& key, std::initializer_list<std::span<const std::byte>> parts);
// HKDF-SHA-256: a key for one use, named by `label`, of one conversation, named by `salt`.
Secret derive(const Secret& secret, std::span<const std::byte> salt, std::string_view label);
// Takes the same time wherever they differ.
bool are_equal(const Digest& one, const Digest& other);

}  // namespace tutti::rpc
