#include "launch/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace tutti::launch {
namespace {

constexpr std::size_t kItemsMax = std::size_t{1} << 20;  // of a list; each item has a byte or more
constexpr int kDepthMax = 64;                            // of branches below branches

// The fields of everything that is sent, in order: what is written, and what is read back.
void pass(auto& archive, auto& value) requires requires { value.second; }
{ archive(value.first, value.second); }

template <class Value, class Wanted>
concept Is = std::same_as<std::remove_const_t<Value>, Wanted>;

void pass(auto& archive, Is<RankOrder> auto& value) { archive(value.rank, value.local_rank, value.variables); }
void pass(auto& archive, Is<Order> auto& value) {
  archive(value.command, value.folder, value.must_have_folder, value.environment, value.inherits_environment,
          value.local_size, value.bind, value.devices_per_rank, value.input, value.ranks);
}
void pass(auto& archive, Is<Begin> auto& value) { archive(value.order); }
void pass(auto& archive, Is<Branch> auto& value) {
  archive.enter();
  archive(value.host, value.name, value.words, value.branches);
  archive.leave();
}
void pass(auto& archive, Is<Grow> auto& value) { archive(value.branches); }
void pass(auto& archive, Is<Input> auto& value) { archive(value.rank, value.is_end, value.bytes); }
void pass(auto& archive, Is<Signal> auto& value) { archive(value.rank, value.signal); }
void pass(auto& archive, Is<Stop> auto& value) { archive(value.grace_ms); }
void pass(auto&, Is<AskSamples> auto&) {}
void pass(auto&, Is<Beat> auto&) {}
void pass(auto& archive, Is<Hello> auto& value) {
  archive(value.version, value.host_name, value.ports, value.cores, value.pid, value.clock_us);
}
void pass(auto& archive, Is<Started> auto& value) { archive(value.rank, value.pid, value.binding); }
void pass(auto& archive, Is<CannotStart> auto& value) { archive(value.rank, value.text); }
void pass(auto& archive, Is<Output> auto& value) { archive(value.rank, value.stream, value.bytes); }
void pass(auto& archive, Is<Ended> auto& value) {
  archive(value.rank, value.code, value.signal, value.has_core, value.was_stopped, value.core);
}
void pass(auto& archive, Is<Lost> auto& value) { archive(value.host, value.text); }
void pass(auto& archive, Is<Sample> auto& value) {
  archive(value.rank, value.pid, value.cpu_permille, value.memory_bytes, value.call, value.waits_for,
          value.bytes_per_s);
}
void pass(auto& archive, Is<Samples> auto& value) { archive(value.samples); }
void pass(auto& archive, Is<Note> auto& value) { archive(value.text); }
void pass(auto&, Is<Gone> auto&) {}
void pass(auto& archive, Is<Took> auto& value) { archive(value.rank, value.bytes); }

// The greatest value that an enumeration has here.
constexpr auto last_of(BindPolicy) { return BindPolicy::socket; }
constexpr auto last_of(InputPolicy) { return InputPolicy::all; }
constexpr auto last_of(Stream) { return Stream::err; }

class Writer {
 public:
  explicit Writer(Bytes& to) : to_(to) {}

  void operator()(const auto&... values) { (write(values), ...); }
  void enter() {}
  void leave() {}

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      append_number(to_, static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      append_number(to_, value);
    } else if constexpr (std::is_enum_v<T>) {
      append_number(to_, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      append_counted(to_, bytes_of(value));
    } else if constexpr (std::is_same_v<T, Bytes>) {
      append_counted(to_, value);
    } else {
      pass(*this, value);
    }
  }
  template <class T>
  void write(const std::vector<T>& items) {
    if constexpr (std::is_same_v<T, std::byte>) {
      append_counted(to_, items);
    } else {
      append_number(to_, static_cast<std::uint32_t>(items.size()));
      for (const T& item : items) write(item);
    }
  }

  Bytes& to_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : from_(bytes) {}

  void operator()(auto&... values) { (read(values), ...); }
  void enter() { is_good_ = is_good_ && ++depth_ <= kDepthMax; }
  void leave() { --depth_; }
  bool is_whole() const { return is_good_ && from_.rest().empty(); }

 private:
  template <class T>
  void read(T& value) {
    if (!is_good_) return;
    if constexpr (std::is_same_v<T, bool>) {
      const auto number = from_.number<std::uint8_t>();
      is_good_ = number && *number <= 1;
      if (is_good_) value = *number == 1;
    } else if constexpr (std::is_integral_v<T>) {
      is_good_ = from_.read(value);
    } else if constexpr (std::is_enum_v<T>) {
      const auto number = from_.number<std::underlying_type_t<T>>();
      is_good_ = number && *number <= static_cast<std::underlying_type_t<T>>(last_of(T{})) &&
                 (!std::is_same_v<T, Stream> || *number != 0);
      if (is_good_) value = static_cast<T>(*number);
    } else if constexpr (std::is_same_v<T, std::string>) {
      const auto bytes = from_.counted(kMessageBytesMax);
      is_good_ = bytes.has_value();
      if (is_good_) value = text_of(*bytes);
    } else {
      pass(*this, value);
    }
  }
  template <class T>
  void read(std::vector<T>& items) {
    if (!is_good_) return;
    if constexpr (std::is_same_v<T, std::byte>) {
      const auto bytes = from_.counted(kMessageBytesMax);
      is_good_ = bytes.has_value();
      if (is_good_) items.assign(bytes->begin(), bytes->end());
    } else {
      const auto count = from_.number<std::uint32_t>();
      // A length that somebody made up must not cost memory before its items have come.
      is_good_ = count && *count <= kItemsMax && *count <= from_.rest().size();
      for (std::uint32_t index = 0; is_good_ && index < *count; ++index) read(items.emplace_back());
    }
  }

  ByteReader from_;
  bool is_good_ = true;
  int depth_ = 0;
};

template <std::size_t Kind = 0>
std::optional<Message> read_message(std::size_t kind, std::span<const std::byte> bytes) {
  if constexpr (Kind < std::variant_size_v<Message>) {
    if (kind != Kind) return read_message<Kind + 1>(kind, bytes);
    Reader reader(bytes);
    std::variant_alternative_t<Kind, Message> message;
    reader(message);
    if (!reader.is_whole()) return std::nullopt;
    return message;
  }
  return std::nullopt;
}

}  // namespace

Bytes encode(const Envelope& envelope) {
  Bytes bytes;
  append_number(bytes, std::uint32_t{0});  // its length, once it is known
  append_number(bytes, envelope.host);
  append_number(bytes, static_cast<std::uint8_t>(envelope.message.index()));
  std::visit([&](const auto& message) { Writer{bytes}(message); }, envelope.message);
  store_number(std::span(bytes), static_cast<std::uint32_t>(bytes.size() - sizeof(std::uint32_t)));
  return bytes;
}

Result<Envelope> parse_envelope(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto host = reader.number<HostIndex>();
  const auto kind = reader.number<std::uint8_t>();
  if (host && kind) {
    if (auto message = read_message(*kind, reader.rest())) return Envelope{*host, *std::move(message)};
  }
  return Status(Code::network, fmt::format("{} bytes that are no message of a launcher or an agent", bytes.size()));
}

std::optional<HostIndex> host_of(std::span<const std::byte> bytes) { return ByteReader(bytes).number<HostIndex>(); }

}  // namespace tutti::launch
