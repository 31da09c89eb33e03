// How two processes of a job prove to each other that they know its secret, as a machine of bytes: no socket, no clock.
//
//   connector                                   acceptor
//   hello (56 bytes)                  ->
//                                     <-        hello (56 bytes)
//   (with encryption both now begin TLS 1.3 with a key derived from the secret and both hellos)
//                                     <-        proof (33 bytes)
//   proof (33 bytes)                  ->
//
// A proof is an HMAC over the role of the prover and both hellos, and so over both versions, roles, purposes, ids and
// nonces: it is of no use in another conversation, nor in the other direction.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/world.h"
#include "rpc/secret.h"
#include "tutti/status.h"

namespace tutti::rpc {

// Another major version refuses; another minor one is understood.
struct Version {
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
  bool operator==(const Version&) const = default;
};

enum class Role : std::uint8_t { connector = 1, acceptor = 2 };
enum class Purpose : std::uint8_t { control = 1, data = 2 };
enum class Encryption : std::uint8_t { off = 0, on = 1 };

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kHelloBytes = 56;
inline constexpr std::size_t kProofBytes = 33;

// What a side says of itself.
struct Hello {
  Version version = {};
  Role role = Role::connector;
  Purpose purpose = Purpose::control;
  Encryption encryption = Encryption::off;
  ActorId id = {};
  std::array<std::byte, kNonceBytes> nonce = {};  // at random, never used before
  bool operator==(const Hello&) const = default;
};

using HelloBytes = std::array<std::byte, kHelloBytes>;
HelloBytes pack(const Hello& hello);

// Why a greeting ended, for those who count.
enum class Fault : std::uint8_t { none, garbage, bad_version, wrong_secret, encryption_differs, replay, closed, late };

class Handshake {
 public:
  enum class Stage : std::uint8_t { hello, agreed, proof, done, failed };

  // The purpose is the connector's; an acceptor takes that of the other side.
  Handshake(const Secret& secret, const Hello& self);

  Stage stage() const { return stage_; }
  Fault fault() const { return fault_; }
  // What has to go to the other side now; also after a failure, so that the other side knows why.
  Bytes take_output();
  // How many bytes may be read without touching what comes after the handshake; 0: none now.
  std::size_t bytes_wanted() const;
  // At most bytes_wanted() of them. The first wrong byte is the end.
  Status receive(std::span<const std::byte> bytes);
  // From agreed to proof, once the conversation is encrypted, or at once if it is not to be.
  void begin_proofs();

  const Hello& peer() const { return peer_; }        // from agreed on; believed when done
  Purpose purpose() const { return self_.purpose; }  // from agreed on
  Secret derive_key(std::string_view label) const;   // of this conversation, from agreed on

 private:
  Status fail(Fault fault, Code code, std::string text);
  Status receive_hello();
  Status check_versions();
  Status receive_proof();
  Digest proof_of(Role prover) const;
  void queue_proof();
  Bytes transcript() const;

  Secret secret_;
  Hello self_;
  Hello peer_{};
  HelloBytes self_bytes_{};
  HelloBytes peer_bytes_{};
  Stage stage_ = Stage::hello;
  Fault fault_ = Fault::none;
  Bytes input_;
  Bytes output_;
};

}  // namespace tutti::rpc
