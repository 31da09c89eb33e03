// How processes of a machine find each other: what a process tells of itself through a store, and its first words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "tutti/status.h"

namespace tutti::transport {

using ProcessId = std::array<std::byte, 16>;  // random; unlike a pid it never means another process later
using Key = std::array<std::byte, 16>;        // random; who knows it has read the card

struct Card {
  ProcessId id{};
  Key key{};
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint64_t heap_bytes = 0;
  std::string boot_id;  // empty: the kernel does not tell
  std::string host;
  std::string socket;  // the name of an abstract socket that the process listens on, without the leading zero

  bool operator==(const Card&) const = default;
};

// Texts are cut to their limits, and characters that are not printable become '?'.
Bytes pack_card(const Card& card);
// Cards come from outside: anything may stand there.
Result<Card> parse_card(std::span<const std::byte> bytes);

// Success when a process with that card can be met by the one with the card `own`.
Status check_same_machine(const Card& own, const Card& other);

// What the two sides of a connection tell each other, along with the descriptor of their heap.
struct Hello {
  ProcessId sender{};
  Key sender_key{};
  Key receiver_key{};
  std::uint32_t sender_pid = 0;  // as the sender knows itself; its receivers may see another, or none
  std::uint64_t heap_bytes = 0;
  std::uint64_t probe_address = 0;         // in the sender; whoever can read its memory
  std::array<std::byte, 16> probe_word{};  // finds this there

  bool operator==(const Hello&) const = default;
};

Bytes pack_hello(const Hello& hello);
Result<Hello> parse_hello(std::span<const std::byte> bytes);

}  // namespace tutti::transport
