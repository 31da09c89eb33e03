#include "rpc/handshake.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/assert.h"

namespace tutti::rpc {
namespace {

constexpr std::array<std::byte, 8> kMagic = {std::byte{'T'}, std::byte{'U'}, std::byte{'T'}, std::byte{'T'},
                                             std::byte{'I'}, std::byte{'r'}, std::byte{'p'}, std::byte{'c'}};

// Where the fields of a hello lie. Magic and version stay where they are in all versions.
constexpr std::size_t kMajorAt = 8;
constexpr std::size_t kMinorAt = 10;
constexpr std::size_t kVersionEnd = 12;
constexpr std::size_t kRoleAt = 12;
constexpr std::size_t kPurposeAt = 13;
constexpr std::size_t kEncryptionAt = 14;
constexpr std::size_t kZeroAt = 15;
constexpr std::size_t kIdAt = 16;
constexpr std::size_t kNonceAt = 24;
static_assert(kNonceAt + kNonceBytes == kHelloBytes);

constexpr std::byte kProof{1};
constexpr std::byte kRefusal{2};  // in the place of a proof: the proof of the other side was wrong

Role other(Role role) { return role == Role::connector ? Role::acceptor : Role::connector; }

// Of a whole hello of our major version; nullopt: a field has a value that nobody sends.
std::optional<Hello> parse(std::span<const std::byte, kHelloBytes> bytes) {
  const auto role = std::to_integer<std::uint8_t>(bytes[kRoleAt]);
  const auto purpose = std::to_integer<std::uint8_t>(bytes[kPurposeAt]);
  const auto encryption = std::to_integer<std::uint8_t>(bytes[kEncryptionAt]);
  if (role < 1 || role > 2 || purpose < 1 || purpose > 2 || encryption > 1 || bytes[kZeroAt] != std::byte{0})
    return std::nullopt;
  Hello hello;
  hello.version.major = load_number<std::uint16_t>(bytes.subspan(kMajorAt));
  hello.version.minor = load_number<std::uint16_t>(bytes.subspan(kMinorAt));
  hello.role = static_cast<Role>(role);
  hello.purpose = static_cast<Purpose>(purpose);
  hello.encryption = static_cast<Encryption>(encryption);
  hello.id.value = load_number<std::uint64_t>(bytes.subspan(kIdAt));
  std::ranges::copy(bytes.subspan(kNonceAt), hello.nonce.begin());
  return hello;
}

}  // namespace

HelloBytes pack(const Hello& hello) {
  HelloBytes bytes{};
  const std::span<std::byte> space(bytes);
  std::ranges::copy(kMagic, bytes.begin());
  store_number(space.subspan(kMajorAt), hello.version.major);
  store_number(space.subspan(kMinorAt), hello.version.minor);
  bytes[kRoleAt] = static_cast<std::byte>(hello.role);
  bytes[kPurposeAt] = static_cast<std::byte>(hello.purpose);
  bytes[kEncryptionAt] = static_cast<std::byte>(hello.encryption);
  store_number(space.subspan(kIdAt), hello.id.value);
  std::ranges::copy(hello.nonce, space.subspan(kNonceAt).begin());
  return bytes;
}

Handshake::Handshake(const Secret& secret, const Hello& self) : secret_(secret), self_(self) {
  if (self_.role == Role::acceptor) return;  // says nothing before the other side has shown what it speaks
  self_bytes_ = pack(self_);
  append(output_, self_bytes_);
}

Bytes Handshake::take_output() { return std::exchange(output_, {}); }

std::size_t Handshake::bytes_wanted() const {
  switch (stage_) {
    case Stage::hello: return kHelloBytes - input_.size();
    case Stage::proof: return kProofBytes - input_.size();
    case Stage::agreed:
    case Stage::done:
    case Stage::failed: return 0;
  }
  return 0;
}

Status Handshake::fail(Fault fault, Code code, std::string text) {
  stage_ = Stage::failed;
  fault_ = fault;
  return {code, std::move(text), Scope::connection};
}

Status Handshake::receive(std::span<const std::byte> bytes) {
  TUTTI_ASSERT(bytes.size() <= bytes_wanted(), "what follows the handshake is not the handshake's");
  append(input_, bytes);
  return stage_ == Stage::hello ? receive_hello() : receive_proof();
}

Status Handshake::check_versions() {
  const Version theirs{load_number<std::uint16_t>(std::span(input_).subspan(kMajorAt)),
                       load_number<std::uint16_t>(std::span(input_).subspan(kMinorAt))};
  if (theirs.major == self_.version.major) return {};
  if (self_.role == Role::acceptor) append(output_, pack(self_));  // so that the other side can say both versions too
  return fail(Fault::bad_version, Code::unsupported,
              fmt::format("the other side speaks version {}.{} of the protocol and this process version {}.{}; start "
                          "all processes of a job from the same version of Tutti",
                          theirs.major, theirs.minor, self_.version.major, self_.version.minor));
}

Status Handshake::receive_hello() {
  const std::size_t known = std::min(input_.size(), kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(known), input_.begin()))
    return fail(Fault::garbage, Code::network, "the other side is no process of Tutti: its first bytes are not ours");
  if (input_.size() >= kVersionEnd) TUTTI_TRY(check_versions());
  if (input_.size() < kHelloBytes) return {};
  std::ranges::copy(input_, peer_bytes_.begin());
  const auto hello = parse(peer_bytes_);
  if (!hello) return fail(Fault::garbage, Code::network, "the other side has sent a greeting that nobody sends");
  if (hello->role != other(self_.role))
    return fail(Fault::replay, Code::network, "the other side has sent this process a greeting of its own kind back");
  peer_ = *hello;
  if (self_.role == Role::acceptor) {
    self_.purpose = peer_.purpose;
    self_bytes_ = pack(self_);
    append(output_, self_bytes_);
  } else if (peer_.purpose != self_.purpose) {
    return fail(Fault::garbage, Code::network, "the other side takes this connection for one of another purpose");
  }
  if (peer_.encryption != self_.encryption) {
    const bool is_on_here = self_.encryption == Encryption::on;
    return fail(Fault::encryption_differs, Code::invalid_usage,
                fmt::format("this process {} and the other side {}; give all processes of a job the same "
                            "TUTTI_ENCRYPT",
                            is_on_here ? "encrypts" : "does not encrypt", is_on_here ? "does not" : "does"));
  }
  input_.clear();
  stage_ = Stage::agreed;
  return {};
}

Bytes Handshake::transcript() const {
  const bool is_connector = self_.role == Role::connector;
  Bytes bytes;
  append(bytes, is_connector ? self_bytes_ : peer_bytes_);
  append(bytes, is_connector ? peer_bytes_ : self_bytes_);
  return bytes;
}

Secret Handshake::derive_key(std::string_view label) const { return derive(secret_, transcript(), label); }

Digest Handshake::proof_of(Role prover) const {
  static constexpr std::string_view kLabel = "tutti proof";
  const std::byte role = static_cast<std::byte>(prover);
  return authenticate(secret_, {std::as_bytes(std::span(kLabel.data(), kLabel.size())), {&role, 1}, transcript()});
}

void Handshake::queue_proof() {
  output_.push_back(kProof);
  append(output_, proof_of(self_.role));
}

void Handshake::begin_proofs() {
  TUTTI_ASSERT(stage_ == Stage::agreed, "proofs come after both hellos");
  stage_ = Stage::proof;
  if (self_.role == Role::acceptor) queue_proof();
}

Status Handshake::receive_proof() {
  static constexpr std::string_view kText = "the other side does not know this job's secret";
  if (input_.front() != kProof && input_.front() != kRefusal)
    return fail(Fault::garbage, Code::network, "the other side has sent something else in the place of its proof");
  if (input_.size() < kProofBytes) return {};
  if (input_.front() == kRefusal) return fail(Fault::wrong_secret, Code::invalid_argument, std::string(kText));
  Digest theirs{};
  std::copy(input_.begin() + 1, input_.end(), theirs.begin());
  if (!are_equal(theirs, proof_of(other(self_.role)))) {
    output_.assign(kProofBytes, std::byte{0});
    output_.front() = kRefusal;
    return fail(Fault::wrong_secret, Code::invalid_argument, std::string(kText));
  }
  input_.clear();
  if (self_.role == Role::connector) queue_proof();
  stage_ = Stage::done;
  return {};
}

}  // namespace tutti::rpc
