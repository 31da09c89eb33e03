// Calls in words and in numbers: how ranks compare what they were asked for, and how people read it.
#pragma once

#include <optional>
#include <string>

#include "transport/channel.h"
#include "tutti/call.h"

namespace tutti::comm {

// All that must be the same on every rank. Two calls of one kind have equal keys.
struct CallKey {
  std::uint64_t count = 0;
  std::uint64_t what = 0;    // collective, type, operation, root, peer, whether counts vary
  std::uint64_t detail = 0;  // of variable counts and custom operations: a hash

  bool operator==(const CallKey&) const = default;
  std::uint64_t hash() const;
  std::uint32_t fingerprint() const;
};

CallKey key_of(const Call& call);

// "all_reduce of 1000 float32, sum".
std::string describe(const CallKey& key);
std::string describe(const Call& call);
CallKey key_of(const transport::Record& record);

// The parts of a key in words, for those who do not want a sentence.
struct CallWords {
  std::string kind = {};
  std::string type = {};       // empty: it has none
  std::string operation = {};  // likewise
  std::optional<Rank> root = {};
};
CallWords words_of(const CallKey& key);

// Where two calls differ, in words: "a count of 100 against 200".
std::string difference(const CallKey& mine, const CallKey& theirs);

}  // namespace tutti::comm
