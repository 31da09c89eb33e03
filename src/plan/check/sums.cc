#include "plan/check/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace tutti::plan {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

}  // namespace

Sums::Sums(Rank ranks) : ranks_(ranks), words_((static_cast<std::size_t>(ranks) + 63) / 64) {
  entries_.push_back({0, false});
  bits_.resize(words_, 0);
  scratch_.resize(words_);
}

SumId Sums::intern(std::uint32_t chunk, bool is_finished, const std::vector<std::uint64_t>& bits) {
  std::uint64_t hash = mix(chunk, is_finished ? 1 : 0);
  for (const std::uint64_t word : bits) hash = mix(hash, word);
  auto& same_hash = by_hash_[hash];
  for (const SumId id : same_hash) {
    const Entry& entry = entries_[id];
    if (entry.chunk == chunk && entry.is_finished == is_finished && std::equal(bits.begin(), bits.end(), bits_of(id))) {
      return id;
    }
  }
  const auto id = static_cast<SumId>(entries_.size());
  entries_.push_back({chunk, is_finished});
  bits_.insert(bits_.end(), bits.begin(), bits.end());
  same_hash.push_back(id);
  return id;
}

SumId Sums::contribution(Rank rank, std::uint32_t chunk) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | chunk;
  auto [entry, is_new] = contributions_.try_emplace(key, kNothing);
  if (!is_new) return entry->second;
  std::fill(scratch_.begin(), scratch_.end(), 0);
  scratch_[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  return entry->second = intern(chunk, false, scratch_);
}

SumId Sums::complete(std::uint32_t chunk) {
  std::fill(scratch_.begin(), scratch_.end(), ~std::uint64_t{0});
  if (ranks_ % 64 != 0) scratch_.back() = (std::uint64_t{1} << (ranks_ % 64)) - 1;
  return intern(chunk, true, scratch_);
}

std::variant<SumId, std::string> Sums::add(SumId a, SumId b) {
  if (a == kNothing || b == kNothing) return std::string("adds a place where nothing has been stored");
  const std::uint64_t key = std::uint64_t{a} << 32 | b;
  auto [entry, is_new] = added_.try_emplace(key, kNothing);
  if (!is_new) return entry->second;
  const auto refuse = [&](std::string why) {
    added_.erase(key);
    return why;
  };
  if (entries_[a].chunk != entries_[b].chunk) return refuse(fmt::format("adds {} to {}", text(b), text(a)));
  if (entries_[a].is_finished || entries_[b].is_finished) return refuse(fmt::format("adds {} to {}", text(b), text(a)));
  for (std::size_t word = 0; word < words_; ++word) {
    const std::uint64_t twice = bits_of(a)[word] & bits_of(b)[word];
    if (twice != 0) {
      const std::size_t rank = word * 64 + static_cast<std::size_t>(std::countr_zero(twice));
      return refuse(fmt::format("counts the contribution of rank {} to chunk {} twice", rank, entries_[a].chunk));
    }
    scratch_[word] = bits_of(a)[word] | bits_of(b)[word];
  }
  return entry->second = intern(entries_[a].chunk, false, scratch_);
}

std::variant<SumId, std::string> Sums::finish(SumId a) {
  if (a == kNothing) return std::string("finishes a place where nothing has been stored");
  if (entries_[a].is_finished) return fmt::format("finishes {} a second time", text(a));
  const auto missing = ranks_of(a, true);
  if (!missing.empty())
    return fmt::format("finishes chunk {} without ranks {}", entries_[a].chunk, text::list_text(missing));
  return complete(entries_[a].chunk);
}

std::vector<Rank> Sums::ranks_of(SumId id, bool missing) const {
  std::vector<Rank> found;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const bool is_in = (bits_of(id)[static_cast<std::size_t>(rank) / 64] >> (rank % 64) & 1) != 0;
    if (is_in != missing) found.push_back(rank);
  }
  return found;
}

std::string Sums::text(SumId id) const {
  if (id == kNothing) return "nothing";
  return fmt::format("{}chunk {} of rank{} {}", entries_[id].is_finished ? "the finished " : "", entries_[id].chunk,
                     ranks_of(id, false).size() == 1 ? "" : "s", text::list_text(ranks_of(id, false)));
}

}  // namespace tutti::plan
