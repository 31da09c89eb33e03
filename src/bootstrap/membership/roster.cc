#include "bootstrap/membership/roster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bootstrap/exchange.h"

namespace tutti::bootstrap {

Rank Roster::rank_of(ActorId actor) const {
  for (Rank rank = 0; rank < size(); ++rank)
    if (ranks[static_cast<std::size_t>(rank)].contact.id == actor) return rank;
  return kNoRank;
}

std::string process_text(const Process& process) { return fmt::format("process {} on {}", process.pid, process.host); }

std::string rank_text(const Roster& roster, Rank rank) {
  return fmt::format("rank {} ({})", rank, process_text(roster.ranks[static_cast<std::size_t>(rank)].process));
}

std::string addresses_text(const Contact& contact) {
  return contact.addresses.empty() ? "no address" : fmt::format("{}", fmt::join(contact.addresses, ", "));
}

std::string ranks_told(std::vector<Rank> first, Rank count) {
  // A list only shows its first ranks and how many more there are, so the others need no names.
  first.resize(static_cast<std::size_t>(count), kNoRank);
  return ranks_list(first);
}

void append_rank_list(Bytes& to, const std::vector<Rank>& ranks) {
  append_number(to, static_cast<std::uint32_t>(ranks.size()));
  for (const Rank rank : ranks) append_number(to, rank);
}

void append_participant(Bytes& to, const Participant& participant) {
  append_number(to, participant.contact.id.value);
  append_number(to, static_cast<std::uint8_t>(participant.contact.addresses.size()));
  for (const std::string& address : participant.contact.addresses) append_counted(to, bytes_of(address));
  append_counted(to, bytes_of(participant.process.host));
  append_number(to, participant.process.pid);
  append_counted(to, participant.card);
}

void append_roster(Bytes& to, const Roster& roster) {
  append_number(to, roster.epoch);
  append_number(to, static_cast<std::uint32_t>(roster.ranks.size()));
  for (const Participant& participant : roster.ranks) append_participant(to, participant);
}

std::optional<std::string> read_text(ByteReader& reader, std::size_t bytes_max) {
  const auto bytes = reader.counted(bytes_max);
  if (!bytes) return std::nullopt;
  return std::string(text_of(*bytes));
}

std::optional<Bytes> read_bytes(ByteReader& reader, std::size_t bytes_max) {
  const auto bytes = reader.counted(bytes_max);
  if (!bytes) return std::nullopt;
  return Bytes(bytes->begin(), bytes->end());
}

std::optional<std::vector<Rank>> read_rank_list(ByteReader& reader) {
  const auto count = reader.number<std::uint32_t>();
  if (!count || *count > reader.rest().size() / sizeof(Rank)) return std::nullopt;
  std::vector<Rank> ranks;
  ranks.reserve(*count);
  for (std::uint32_t index = 0; index < *count; ++index) {
    const Rank rank = *reader.number<Rank>();
    const Rank above = ranks.empty() ? kNoRank : ranks.back();
    if (rank <= above || rank >= kRanksMax) return std::nullopt;
    ranks.push_back(rank);
  }
  return ranks;
}

std::optional<Participant> read_participant(ByteReader& reader) {
  Participant participant;
  const auto id = reader.number<std::uint64_t>();
  const auto address_count = reader.number<std::uint8_t>();
  if (!id || !address_count || *address_count > kAddressesMax) return std::nullopt;
  participant.contact.id = {*id};
  for (std::uint8_t index = 0; index < *address_count; ++index) {
    auto address = read_text(reader, kAddressBytesMax);
    if (!address) return std::nullopt;
    participant.contact.addresses.push_back(*std::move(address));
  }
  auto host = read_text(reader, kHostBytesMax);
  const auto pid = reader.number<std::int32_t>();
  auto card = read_bytes(reader, kCardBytesMax);
  if (!host || !pid || !card) return std::nullopt;
  participant.process = {*std::move(host), *pid};
  participant.card = *std::move(card);
  return participant;
}

std::optional<Roster> read_roster(ByteReader& reader) {
  Roster roster;
  const auto epoch = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint32_t>();
  if (!epoch || !count || *count > static_cast<std::uint32_t>(kRanksMax)) return std::nullopt;
  roster.epoch = *epoch;
  for (std::uint32_t index = 0; index < *count; ++index) {
    auto participant = read_participant(reader);
    if (!participant) return std::nullopt;
    roster.ranks.push_back(*std::move(participant));
  }
  return roster;
}

}  // namespace tutti::bootstrap
