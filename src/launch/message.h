// What the launcher of a job and its agents, one on each host, say to each other, as bytes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

inline constexpr std::size_t kMessageBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;  // of one Output or Input
inline constexpr std::size_t kInputBytesMax = std::size_t{4} << 20;

enum class Stream : std::uint8_t { out = 1, err = 2 };

// ---- from the launcher to an agent

struct Begin {
  Order order;
  bool operator==(const Begin&) const = default;
};
// An agent that the receiver starts and relays for: the hosts of a job are a tree.
struct Branch {
  HostIndex host = 0;
  std::string name;                // for messages
  std::vector<std::string> words;  // the command that starts it: ssh and its arguments
  std::vector<Branch> branches;    // which that one starts in turn
  bool operator==(const Branch&) const = default;
};
struct Grow {
  std::vector<Branch> branches;
  bool operator==(const Grow&) const = default;
};
// At most kInputBytesMax are on their way to a rank: the agent answers with Took.
struct Input {
  Rank rank = 0;
  bool is_end = false;  // nothing comes after these bytes
  Bytes bytes;
  bool operator==(const Input&) const = default;
};
// To the processes of a rank, or of all ranks of the host (kNoRank). From SIGSTOP for all until SIGCONT for all nobody
// takes silence for a cut: the launcher may be stopped too.
struct Signal {
  Rank rank = kNoRank;
  std::int32_t signal = 0;
  bool operator==(const Signal&) const = default;
};
// End all ranks: SIGTERM, and after the grace SIGKILL to whatever is left of them. Answered with Gone.
struct Stop {
  std::uint32_t grace_ms = 0;
  bool operator==(const Stop&) const = default;
};
struct AskSamples {
  bool operator==(const AskSamples&) const = default;
};
// Both ways, when there was nothing else to say for a while. Silence means that a host is cut off.
struct Beat {
  bool operator==(const Beat&) const = default;
};

// ---- from an agent to the launcher

struct Hello {
  std::string version;               // of Tutti
  std::string host_name;             // as the host calls itself
  std::vector<std::uint16_t> ports;  // that nobody listens at, as many as the agent was asked for
  std::uint32_t cores = 0;
  std::int32_t pid = 0;
  std::int64_t clock_us = 0;  // wall clock of the host, since 1970
  bool operator==(const Hello&) const = default;
};
struct Started {
  Rank rank = 0;
  std::int32_t pid = 0;
  std::string binding;  // "cores 0-3", "" when it is not bound
  bool operator==(const Started&) const = default;
};
// The program could not be started: no such file, no such folder, no memory. The rank never was.
struct CannotStart {
  Rank rank = 0;
  std::string text;
  bool operator==(const CannotStart&) const = default;
};
// Whole lines, unless one is longer than kOutputBytesMax or the rank has ended within it.
struct Output {
  Rank rank = 0;
  Stream stream = Stream::out;
  Bytes bytes;
  bool operator==(const Output&) const = default;
};
// After all of its output. Exactly one of code and signal is meant: signal 0 means that it called exit(code).
struct Ended {
  Rank rank = 0;
  std::int32_t code = 0;
  std::int32_t signal = 0;
  bool has_core = false;
  bool was_stopped = false;  // by the launcher's Stop or Signal, as far as the agent knows
  std::string core;          // where it is, or what took it
  bool operator==(const Ended&) const = default;
};
// Another agent, which the sender had started, could not be started or is gone, and with it all below it.
struct Lost {
  HostIndex host = 0;
  std::string text;
  bool operator==(const Lost&) const = default;
};
struct Sample {
  Rank rank = 0;
  std::int32_t pid = 0;
  std::uint32_t cpu_permille = 0;  // of one core, since the last sample
  std::uint64_t memory_bytes = 0;  // resident
  std::string call;                // what it is doing, "" when it says nothing
  std::string waits_for;           // which ranks
  std::uint64_t bytes_per_s = 0;
  bool operator==(const Sample&) const = default;
};
struct Samples {
  std::vector<Sample> samples;
  bool operator==(const Samples&) const = default;
};
struct Note {  // a warning for people
  std::string text;
  bool operator==(const Note&) const = default;
};
// Nothing of the job runs on this host any more: the answer to Stop. The agent waits for another Begin, or for the end
// of its channel, with which it ends.
struct Gone {
  bool operator==(const Gone&) const = default;
};
// So many bytes of Input are with the rank, or with nobody because it does not read any more.
struct Took {
  Rank rank = 0;
  std::uint32_t bytes = 0;
  bool operator==(const Took&) const = default;
};

using Message = std::variant<Begin, Grow, Input, Signal, Stop, AskSamples, Beat, Hello, Started, CannotStart, Output,
                             Ended, Lost, Samples, Note, Gone, Took>;

// For whom, or from whom: relays look at nothing else.
struct Envelope {
  HostIndex host = 0;
  Message message;
  bool operator==(const Envelope&) const = default;
};

// With its length in front, as it goes into a stream.
Bytes encode(const Envelope& envelope);
// Of the bytes behind the length.
Result<Envelope> parse_envelope(std::span<const std::byte> bytes);
// The host alone, for relays.
std::optional<HostIndex> host_of(std::span<const std::byte> bytes);

}  // namespace tutti::launch
