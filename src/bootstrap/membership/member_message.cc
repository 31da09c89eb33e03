#include "bootstrap/membership/member_message.h"

#include <fmt/format.h>

#include <optional>

namespace tutti::bootstrap {
namespace {

void put(Bytes& to, const Ballot& ballot) {
  append_number(to, ballot.attempt);
  append_number(to, ballot.rank);
}

void put(Bytes& to, const std::vector<ActorId>& actors) {
  append_number(to, static_cast<std::uint32_t>(actors.size()));
  for (const ActorId actor : actors) append_number(to, actor.value);
}

struct Writer {
  Bytes& bytes;

  void operator()(const Heartbeat&) {}
  void operator()(const Gone& gone) {
    append_number(bytes, gone.rank);
    append_number(bytes, static_cast<std::uint8_t>(gone.kind));
    append_number(bytes, gone.by);
    append_counted(bytes, bytes_of(std::string_view(gone.reason).substr(0, kReasonBytesMax)));
  }
  void operator()(const Notice& notice) {
    append_number(bytes, notice.origin);
    append_number(bytes, notice.sequence);
    append_counted(bytes, notice.bytes);
  }
  void operator()(const Question& question) {
    append_number(bytes, question.id);
    append_counted(bytes, question.bytes);
  }
  void operator()(const Answer& answer) {
    append_number(bytes, answer.id);
    append_counted(bytes, answer.bytes);
  }
  void operator()(const Prepare& prepare) {
    put(bytes, prepare.ballot);
    append_rank_list(bytes, prepare.certain);
  }
  void operator()(const Promise& promise) {
    put(bytes, promise.ballot);
    put(bytes, promise.accepted);
    append_rank_list(bytes, promise.survivors);
    append_rank_list(bytes, promise.certain);
  }
  void operator()(const NotCalled& not_called) { put(bytes, not_called.ballot); }
  void operator()(const Outvoted& outvoted) {
    put(bytes, outvoted.ballot);
    put(bytes, outvoted.promised);
  }
  void operator()(const Accept& accept) {
    put(bytes, accept.ballot);
    append_rank_list(bytes, accept.survivors);
    append_rank_list(bytes, accept.certain);
  }
  void operator()(const Accepted& accepted) {
    put(bytes, accepted.ballot);
    append_number(bytes, accepted.certain_count);
  }
  void operator()(const Standing& standing) {
    put(bytes, standing.ballot);
    append_rank_list(bytes, standing.not_called);
    append_rank_list(bytes, standing.unreached);
  }
  void operator()(const Chosen& chosen) {
    put(bytes, chosen.survivors);
    put(bytes, chosen.ended);
  }
};

bool get(ByteReader& reader, Rank& rank) { return reader.read(rank) && rank >= 0 && rank < kRanksMax; }

template <std::unsigned_integral T>
bool get(ByteReader& reader, T& value) {
  return reader.read(value);
}

bool get(ByteReader& reader, Ballot& ballot) { return get(reader, ballot.attempt) && get(reader, ballot.rank); }

bool get(ByteReader& reader, Bytes& bytes, std::size_t bytes_max) {
  auto read = read_bytes(reader, bytes_max);
  if (read) bytes = *std::move(read);
  return read.has_value();
}

bool get(ByteReader& reader, RankList& ranks) {
  auto read = read_rank_list(reader);
  if (read) ranks = *std::move(read);
  return read.has_value();
}

bool get(ByteReader& reader, std::vector<ActorId>& actors) {
  const auto count = reader.number<std::uint32_t>();
  if (!count || *count > reader.rest().size() / sizeof(std::uint64_t)) return false;
  for (std::uint32_t index = 0; index < *count; ++index) actors.push_back({*reader.number<std::uint64_t>()});
  return true;
}

bool read(ByteReader&, Heartbeat&) { return true; }
bool read(ByteReader& reader, Gone& gone) {
  std::uint8_t kind = 0;
  if (!get(reader, gone.rank) || !get(reader, kind) || kind > static_cast<std::uint8_t>(GoneKind::left)) return false;
  gone.kind = static_cast<GoneKind>(kind);
  if (!get(reader, gone.by)) return false;
  auto reason = read_text(reader, kReasonBytesMax);
  if (reason) gone.reason = *std::move(reason);
  return reason.has_value();
}
bool read(ByteReader& reader, Notice& notice) {
  return get(reader, notice.origin) && get(reader, notice.sequence) && get(reader, notice.bytes, kNoticeBytesMax);
}
bool read(ByteReader& reader, Question& question) {
  return get(reader, question.id) && get(reader, question.bytes, kAnswerBytesMax);
}
bool read(ByteReader& reader, Answer& answer) {
  return get(reader, answer.id) && get(reader, answer.bytes, kAnswerBytesMax);
}
bool read(ByteReader& reader, Prepare& prepare) { return get(reader, prepare.ballot) && get(reader, prepare.certain); }
bool read(ByteReader& reader, Promise& promise) {
  return get(reader, promise.ballot) && get(reader, promise.accepted) && get(reader, promise.survivors) &&
         get(reader, promise.certain);
}
bool read(ByteReader& reader, NotCalled& not_called) { return get(reader, not_called.ballot); }
bool read(ByteReader& reader, Outvoted& outvoted) {
  return get(reader, outvoted.ballot) && get(reader, outvoted.promised);
}
bool read(ByteReader& reader, Accept& accept) {
  return get(reader, accept.ballot) && get(reader, accept.survivors) && get(reader, accept.certain);
}
bool read(ByteReader& reader, Accepted& accepted) {
  return get(reader, accepted.ballot) && get(reader, accepted.certain_count);
}
bool read(ByteReader& reader, Standing& standing) {
  return get(reader, standing.ballot) && get(reader, standing.not_called) && get(reader, standing.unreached);
}
bool read(ByteReader& reader, Chosen& chosen) { return get(reader, chosen.survivors) && get(reader, chosen.ended); }

// In place of a kind: a circle, then the message.
constexpr auto kInCircle = static_cast<std::uint8_t>(kMemberKinds + std::variant_size_v<MemberBody>);

// The kind of a body is its place in the variant.
template <std::size_t index = 0>
bool read_body(std::size_t kind, ByteReader& reader, MemberBody& body) {
  if constexpr (index < std::variant_size_v<MemberBody>) {
    if (kind == index) return read(reader, body.emplace<index>());
    return read_body<index + 1>(kind, reader, body);
  }
  return false;
}

}  // namespace

Bytes encode(const MemberMessage& message) {
  Bytes bytes;
  if (message.circle != 0) {
    append_number(bytes, kInCircle);
    append_number(bytes, message.circle);
  }
  append_number(bytes, static_cast<std::uint8_t>(kMemberKinds + message.body.index()));
  append_number(bytes, message.epoch);
  Writer writer{bytes};
  std::visit(writer, message.body);
  return bytes;
}

Result<MemberMessage> parse_member_message(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  auto kind = reader.number<std::uint8_t>();
  MemberMessage message;
  const bool is_in_circle = kind == kInCircle;
  if (is_in_circle) {
    message.circle = reader.number<std::uint64_t>().value_or(0);
    kind = reader.number<std::uint8_t>();
  }
  const auto epoch = reader.number<std::uint64_t>();
  if (!epoch || is_in_circle != (message.circle != 0) || *kind < kMemberKinds ||
      !read_body(*kind - kMemberKinds, reader, message.body) || !reader.rest().empty())
    return invalid_argument(fmt::format("{} bytes are no message of a member", bytes.size()));
  message.epoch = *epoch;
  return message;
}

}  // namespace tutti::bootstrap
