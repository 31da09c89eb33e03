#include "bootstrap/membership/meeting_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::bootstrap {
namespace {

enum class Kind : std::uint8_t {
  join = kMeetingKinds,
  spread,
  waiting = kJoinerKinds,
  refused,
  everybody,
  check,
  report,
};

void start(Bytes& to, Kind kind) { append_number(to, static_cast<std::uint8_t>(kind)); }

struct Writer {
  Bytes bytes;

  void operator()(const Join& join) {
    start(bytes, Kind::join);
    append_number(bytes, join.epoch);
    append_number(bytes, join.rank);
    append_number(bytes, join.size);
    append_counted(bytes, bytes_of(join.version));
    append_participant(bytes, join.self);
  }
  void operator()(const Spread& spread) {
    start(bytes, Kind::spread);
    append_number(bytes, spread.epoch);
    append_number(bytes, static_cast<std::uint8_t>(spread.is_complete));
  }
  void operator()(const Waiting& waiting) {
    start(bytes, Kind::waiting);
    append_number(bytes, waiting.epoch);
    append_number(bytes, waiting.size);
    append_number(bytes, waiting.missing_count);
    append_rank_list(bytes, waiting.missing);
  }
  void operator()(const Refused& refused) {
    start(bytes, Kind::refused);
    append_number(bytes, refused.epoch);
    append_counted(bytes, bytes_of(std::string_view(refused.text).substr(0, kSentenceBytesMax)));
  }
  void operator()(const Everybody& everybody) {
    start(bytes, Kind::everybody);
    append_roster(bytes, everybody.roster);
  }
  void operator()(const Check& check) {
    start(bytes, Kind::check);
    append_number(bytes, check.epoch);
  }
  void operator()(const Report& report) {
    start(bytes, Kind::report);
    append_number(bytes, report.epoch);
    append_number(bytes, static_cast<std::uint8_t>(report.is_complete));
  }
};

using Parsed = std::optional<MeetingMessage>;

Parsed read_join(ByteReader& reader) {
  const auto epoch = reader.number<std::uint64_t>();
  const auto rank = reader.number<Rank>();
  const auto size = reader.number<Rank>();
  auto version = read_text(reader, kVersionBytesMax);
  if (!epoch || !rank || !size || !version) return std::nullopt;
  auto self = read_participant(reader);
  if (!self) return std::nullopt;
  return Join{*epoch, *rank, *size, *std::move(version), *std::move(self)};
}

Parsed read_waiting(ByteReader& reader) {
  const auto epoch = reader.number<std::uint64_t>();
  const auto size = reader.number<Rank>();
  const auto count = reader.number<Rank>();
  auto missing = read_rank_list(reader);
  if (!epoch || !size || !count || !missing || *size < 0 || *size > kRanksMax) return std::nullopt;
  if (*count < 0 || *count > *size || missing->size() > std::min(static_cast<std::size_t>(*count), kMissingTold))
    return std::nullopt;
  return Waiting{*epoch, *size, *count, *std::move(missing)};
}

Parsed read_refused(ByteReader& reader) {
  const auto epoch = reader.number<std::uint64_t>();
  auto text = read_text(reader, kSentenceBytesMax);
  if (!epoch || !text) return std::nullopt;
  return Refused{*epoch, *std::move(text)};
}

template <class Message>
Parsed read_progress(ByteReader& reader) {
  const auto epoch = reader.number<std::uint64_t>();
  const auto is_complete = reader.number<std::uint8_t>();
  if (!epoch || !is_complete || *is_complete > 1) return std::nullopt;
  return Message{*epoch, *is_complete == 1};
}

Parsed read_message(Kind kind, ByteReader& reader) {
  switch (kind) {
    case Kind::join: return read_join(reader);
    case Kind::spread: return read_progress<Spread>(reader);
    case Kind::waiting: return read_waiting(reader);
    case Kind::refused: return read_refused(reader);
    case Kind::everybody: {
      auto roster = read_roster(reader);
      return roster ? Parsed(Everybody{*std::move(roster)}) : std::nullopt;
    }
    case Kind::check: {
      const auto epoch = reader.number<std::uint64_t>();
      return epoch ? Parsed(Check{*epoch}) : std::nullopt;
    }
    case Kind::report: return read_progress<Report>(reader);
  }
  return std::nullopt;
}

}  // namespace

Bytes encode(const MeetingMessage& message) {
  Writer writer;
  std::visit(writer, message);
  return std::move(writer.bytes);
}

Result<MeetingMessage> parse_meeting_message(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  Parsed message = kind ? read_message(static_cast<Kind>(*kind), reader) : std::nullopt;
  if (!message || !reader.rest().empty())
    return invalid_argument(fmt::format("{} bytes are no message of a meeting", bytes.size()));
  return *std::move(message);
}

}  // namespace tutti::bootstrap
