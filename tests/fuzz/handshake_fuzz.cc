// Any bytes as what a stranger sends before it has proved anything: both roles answer, stay small and let nobody in.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "rpc/handshake.h"

namespace {

using namespace tutti;
using namespace tutti::rpc;

void feed(Handshake handshake, std::span<const std::byte> bytes, std::size_t piece) {
  std::size_t answered = handshake.take_output().size();
  while (!bytes.empty() && handshake.bytes_wanted() > 0) {
    const std::size_t count = std::min({bytes.size(), handshake.bytes_wanted(), piece});
    const bool is_taken = handshake.receive(bytes.first(count)).is_ok();
    answered += handshake.take_output().size();
    if (is_taken != (handshake.stage() != Handshake::Stage::failed)) std::abort();
    if (handshake.stage() == Handshake::Stage::agreed) handshake.begin_proofs();
    bytes = bytes.subspan(count);
  }
  // Nobody guesses a proof.
  if (handshake.stage() == Handshake::Stage::done || answered > kHelloBytes + 2 * kProofBytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::array<std::byte, Secret::kBytes> key{};
  key.fill(std::byte{7});
  const Secret secret{std::span<const std::byte, Secret::kBytes>(key)};
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::size_t piece = 1 + data[0];
  for (const Role role : {Role::connector, Role::acceptor}) {
    Hello hello;
    hello.role = role;
    hello.id = {1};
    feed(Handshake(secret, hello), bytes, piece);
  }
  return 0;
}
