// Symbolic values: which ranks' contributions to which chunk a place in memory holds.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "tutti/plan.h"

namespace tutti::plan {

// Every distinct value has one number; 0 is "nothing yet".
using SumId = std::uint32_t;
inline constexpr SumId kNothing = 0;

class Sums {
 public:
  explicit Sums(Rank ranks);

  SumId contribution(Rank rank, std::uint32_t chunk);
  // The sum of all ranks, finished.
  SumId complete(std::uint32_t chunk);

  // The value, or why the two must not be added: another chunk, a rank counted twice, a finished sum.
  std::variant<SumId, std::string> add(SumId a, SumId b);
  // The value, or which ranks are missing.
  std::variant<SumId, std::string> finish(SumId a);

  std::uint32_t chunk_of(SumId id) const { return entries_[id].chunk; }
  std::string text(SumId id) const;  // "chunk 3 of ranks 0-2,5"

 private:
  struct Entry {
    std::uint32_t chunk;
    bool is_finished;
  };
  std::vector<Rank> ranks_of(SumId id, bool missing) const;
  SumId intern(std::uint32_t chunk, bool is_finished, const std::vector<std::uint64_t>& bits);
  const std::uint64_t* bits_of(SumId id) const { return bits_.data() + std::size_t{id} * words_; }

  Rank ranks_;
  std::size_t words_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> bits_;  // words_ per entry: one bit per rank
  std::unordered_map<std::uint64_t, std::vector<SumId>> by_hash_;
  std::unordered_map<std::uint64_t, SumId> contributions_;
  std::unordered_map<std::uint64_t, SumId> added_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace tutti::plan
