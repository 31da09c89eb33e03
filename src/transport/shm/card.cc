#include "transport/shm/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "transport/shm/bytes.h"

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

Status check_start(Reader& reader, std::uint32_t magic, std::string_view what) {
  if (reader.number<std::uint32_t>() != magic) return invalid_argument(fmt::format("this is not a {} of Tutti", what));
  const auto version = reader.number<std::uint16_t>();
  if (version == kVersion) return {};
  return {Code::unsupported, fmt::format("a {} has version {}, this process has {}; use the same Tutti for all ranks",
                                         what, version, kVersion)};
}

}  // namespace

std::vector<std::byte> pack_card(const Card& card) {
  Writer writer;
  writer.number(kCardMagic);
  writer.number(kVersion);
  writer.raw(card.id);
  writer.raw(card.key);
  writer.number(card.pid);
  writer.number(card.uid);
  writer.number(card.heap_bytes);
  writer.text(printable(card.boot_id, kBootLengthMax));
  writer.text(printable(card.host, kHostLengthMax));
  writer.text(printable(card.socket, kSocketLengthMax));
  return writer.take();
}

Result<Card> parse_card(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TUTTI_TRY(check_start(reader, kCardMagic, "card"));
  Card card;
  card.id = reader.raw<16>();
  card.key = reader.raw<16>();
  card.pid = reader.number<std::uint32_t>();
  card.uid = reader.number<std::uint32_t>();
  card.heap_bytes = reader.number<std::uint64_t>();
  card.boot_id = reader.text();
  card.host = reader.text();
  card.socket = reader.text();
  if (!reader.is_whole()) return invalid_argument(fmt::format("a card of {} bytes has the wrong length", bytes.size()));
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
      fmt::format("process {} on {} runs on another machine than process {} on {}{}; ranks on several machines are "
                  "not supported yet",
                  other.pid, other.host, own.pid, own.host, own.host == other.host ? " (the boot ids differ)" : "")};
}

std::vector<std::byte> pack_hello(const Hello& hello) {
  Writer writer;
  writer.number(kHelloMagic);
  writer.number(kVersion);
  writer.raw(hello.sender);
  writer.raw(hello.sender_key);
  writer.raw(hello.receiver_key);
  writer.number(hello.sender_pid);
  writer.number(hello.heap_bytes);
  writer.number(hello.probe_address);
  writer.raw(hello.probe_word);
  return writer.take();
}

Result<Hello> parse_hello(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TUTTI_TRY(check_start(reader, kHelloMagic, "hello"));
  Hello hello;
  hello.sender = reader.raw<16>();
  hello.sender_key = reader.raw<16>();
  hello.receiver_key = reader.raw<16>();
  hello.sender_pid = reader.number<std::uint32_t>();
  hello.heap_bytes = reader.number<std::uint64_t>();
  hello.probe_address = reader.number<std::uint64_t>();
  hello.probe_word = reader.raw<16>();
  if (!reader.is_whole()) return invalid_argument("a hello has the wrong length");
  return hello;
}

}  // namespace tutti::transport
