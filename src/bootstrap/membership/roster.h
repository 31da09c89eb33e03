// Who takes part in a job, by rank: how to reach each, which process it is, and the card it left for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/world.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// What others send is never longer, so a message cannot make its reader take much more memory than it has bytes.
inline constexpr Rank kRanksMax = 1 << 17;
inline constexpr std::size_t kAddressesMax = 32;
inline constexpr std::size_t kAddressBytesMax = 256;
inline constexpr std::size_t kHostBytesMax = 256;
inline constexpr std::size_t kCardBytesMax = 4096;
inline constexpr std::size_t kSentenceBytesMax = 4096;

struct Process {
  std::string host;
  std::int32_t pid = 0;
  bool operator==(const Process&) const = default;
};

struct Participant {
  Contact contact;
  Process process;
  Bytes card;  // means nothing here; at most kCardBytesMax
  bool operator==(const Participant&) const = default;
};

struct Roster {
  std::uint64_t epoch = 0;  // grows with every agreement on who takes part
  std::vector<Participant> ranks;
  Rank size() const { return static_cast<Rank>(ranks.size()); }
  Rank rank_of(ActorId actor) const;  // kNoRank: not in it
  bool operator==(const Roster&) const = default;
};

std::string process_text(const Process& process);             // "process 71 on node4"
std::string rank_text(const Roster& roster, Rank rank);       // "rank 3 (process 71 on node4)"
std::string addresses_text(const Contact& contact);           // "10.0.0.1:4000, [fd00::1]:4000"
std::string ranks_told(std::vector<Rank> first, Rank count);  // a list of `count` of which the first are known

void append_rank_list(Bytes& to, const std::vector<Rank>& ranks);
void append_participant(Bytes& to, const Participant& participant);
void append_roster(Bytes& to, const Roster& roster);

// nullopt: those bytes are nothing of the kind.
std::optional<std::string> read_text(ByteReader& reader, std::size_t bytes_max);
std::optional<Bytes> read_bytes(ByteReader& reader, std::size_t bytes_max);
std::optional<std::vector<Rank>> read_rank_list(ByteReader& reader);  // ascending, each below kRanksMax
std::optional<Participant> read_participant(ByteReader& reader);
std::optional<Roster> read_roster(ByteReader& reader);

}  // namespace tutti::bootstrap
