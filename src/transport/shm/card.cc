#include "transport/shm/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/bytes.h"

namespace tutti::transport {

namespace {

constexpr std::uint32_t kCardMagic = 0x43747554;   // "TutC"
constexpr std::uint32_t kHelloMagic = 0x48747554;  // "TutH"
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHostLengthMax = 64;    // of Linux
constexpr std::size_t kBootLengthMax = 64;    // 36 at present
constexpr std::size_t kSocketLengthMax = 64;  // Linux allows 107

bool is_printable(char c) { return c > ' ' && c < 0x7f; }

std::string printable(std::string_view text, std::size_t length_max) {
  std::string result(text.substr(0, length_max));
  std::ranges::replace_if(
      result, [](char c) { return !is_printable(c); }, '?');
  return result;
}

bool is_text(std::string_view text, std::size_t length_max) {
  return text.size() <= length_max && std::ranges::all_of(text, is_printable);
}

using TextLength = std::uint8_t;
constexpr std::size_t kTextLengthMax = std::numeric_limits<TextLength>::max();

bool read_text(ByteReader& reader, std::string& text) {
  const auto bytes = reader.counted<TextLength>(kTextLengthMax);
  if (bytes) text = text_of(*bytes);
  return bytes.has_value();
}

Bytes start_of(std::uint32_t magic) {
  Bytes bytes;
  append_number(bytes, magic);
  append_number(bytes, kVersion);
  return bytes;
}

Status check_start(ByteReader& reader, std::uint32_t magic, std::string_view what) {
  if (reader.number<std::uint32_t>() != magic) return invalid_argument(fmt::format("this is not a {} of Tutti", what));
  const auto version = reader.number<std::uint16_t>().value_or(0);
  if (version == kVersion) return {};
  return {Code::unsupported, fmt::format("a {} has version {}, this process has {}; use the same Tutti for all ranks",
                                         what, version, kVersion)};
}

}  // namespace

Bytes pack_card(const Card& card) {
  Bytes bytes = start_of(kCardMagic);
  append(bytes, card.id);
  append(bytes, card.key);
  append_number(bytes, card.pid);
  append_number(bytes, card.uid);
  append_number(bytes, card.heap_bytes);
  append_counted<TextLength>(bytes, bytes_of(printable(card.boot_id, kBootLengthMax)));
  append_counted<TextLength>(bytes, bytes_of(printable(card.host, kHostLengthMax)));
  append_counted<TextLength>(bytes, bytes_of(printable(card.socket, kSocketLengthMax)));
  return bytes;
}

Result<Card> parse_card(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  TUTTI_TRY(check_start(reader, kCardMagic, "card"));
  Card card;
  const bool is_whole = reader.read(card.id) && reader.read(card.key) && reader.read(card.pid) &&
                        reader.read(card.uid) && reader.read(card.heap_bytes) && read_text(reader, card.boot_id) &&
                        read_text(reader, card.host) && read_text(reader, card.socket) && reader.rest().empty();
  if (!is_whole) return invalid_argument(fmt::format("a card of {} bytes has the wrong length", bytes.size()));
  if (!is_text(card.boot_id, kBootLengthMax) || !is_text(card.host, kHostLengthMax) || card.host.empty() ||
      !is_text(card.socket, kSocketLengthMax) || card.socket.empty() || card.heap_bytes == 0) {
    return invalid_argument(fmt::format("a card of {} bytes is damaged", bytes.size()));
  }
  return card;
}

Status check_same_machine(const Card& own, const Card& other) {
  const bool same_boot = own.boot_id.empty() || other.boot_id.empty() || own.boot_id == other.boot_id;
  if (same_boot && own.host == other.host) return {};
  return {
      Code::unsupported,
      fmt::format("process {} on {} runs on another machine than process {} on {}{}; ranks on several machines meet "
                  "through an identifier (store = \"tcp:\" + Identifier::text())",
                  other.pid, other.host, own.pid, own.host, own.host == other.host ? " (the boot ids differ)" : "")};
}

Bytes pack_hello(const Hello& hello) {
  Bytes bytes = start_of(kHelloMagic);
  append(bytes, hello.sender);
  append(bytes, hello.sender_key);
  append(bytes, hello.receiver_key);
  append_number(bytes, hello.sender_pid);
  append_number(bytes, hello.heap_bytes);
  append_number(bytes, hello.probe_address);
  append(bytes, hello.probe_word);
  return bytes;
}

Result<Hello> parse_hello(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  TUTTI_TRY(check_start(reader, kHelloMagic, "hello"));
  Hello hello;
  const bool is_whole = reader.read(hello.sender) && reader.read(hello.sender_key) && reader.read(hello.receiver_key) &&
                        reader.read(hello.sender_pid) && reader.read(hello.heap_bytes) &&
                        reader.read(hello.probe_address) && reader.read(hello.probe_word) && reader.rest().empty();
  if (!is_whole) return invalid_argument("a hello has the wrong length");
  return hello;
}

}  // namespace tutti::transport
