// Inputs for a plan and the outputs it must give, computed from the definition of the collective alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/random.h"
#include "plan/check/promise.h"
#include "tutti/interpret.h"
#include "tutti/prove.h"

namespace tutti::plan {

// Maps in which no two chunks have the same size, so that data in the wrong place does not fit. In place what a rank
// sends to another and what it gets from there lie in the same place and have the same size.
inline std::vector<ChunkMap> odd_maps(const Header& plan, bool in_place) {
  std::vector<ChunkMap> maps;
  const auto ranks = static_cast<std::uint64_t>(plan.ranks);
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    std::vector<Extent> in;
    std::vector<Extent> out;
    std::uint64_t in_end = 0;
    std::uint64_t out_end = 0;
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      std::uint64_t in_size = chunk + 1;
      std::uint64_t out_size = chunk + 1;
      if (plan.collective == Collective::all_to_all) {
        const std::uint64_t parts = plan.chunks / ranks;
        const std::uint64_t other = chunk / parts;
        const auto size_of_pair = [&](std::uint64_t from, std::uint64_t to) {
          if (in_place && from > to) std::swap(from, to);
          return 1 + (from * ranks + to) * parts + chunk % parts;
        };
        in_size = size_of_pair(rank, other);
        out_size = size_of_pair(other, rank);
      }
      in.push_back({in_end, in_size});
      out.push_back({out_end, out_size});
      in_end += in_size;
      out_end += out_size;
    }
    maps.push_back({Layout::variable(in, 1), Layout::variable(out, 1)});
  }
  return maps;
}

class Elements {
 public:
  explicit Elements(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  std::int64_t get(std::uint64_t index) const {
    std::int64_t value = 0;
    std::memcpy(&value, bytes_.data() + index * sizeof(value), sizeof(value));
    return value;
  }
  void set(std::uint64_t index, std::int64_t value) {
    std::memcpy(bytes_.data() + index * sizeof(value), &value, sizeof(value));
  }

 private:
  std::vector<std::byte>& bytes_;
};

// 64-bit integers under `average`: every sum is exact, a contribution too few or too many shows, and so does a sum that
// is divided twice or not at all. In place the inputs stand in `out`.
inline Memories numbered_inputs(const Plan& plan, const std::vector<ChunkMap>& maps, bool in_place) {
  Memories memories = create_memories(maps, DataType::int64);
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    Elements elements(in_place ? memories.out[index] : memories.in[index]);
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      if (!has_chunk(plan, rank, Buffer::in, chunk)) continue;
      const Extent extent = maps[index].in.of(chunk);
      for (std::uint64_t i = 0; i < extent.elements; ++i) {
        Random random((index << 40) ^ (std::uint64_t{chunk} << 20) ^ i);
        elements.set(extent.offset + i, static_cast<std::int64_t>(random.next() >> 24) * plan.ranks);
      }
    }
  }
  return memories;
}

// The first output that differs from the definition, in words; empty when all are right.
inline std::string first_difference(const Plan& plan, const std::vector<ChunkMap>& maps, Memories& inputs,
                                    bool in_place, Memories& results) {
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      if (!has_chunk(plan, rank, Buffer::out, chunk)) continue;
      const Promise promise = promise_of(plan, rank, chunk);
      const Extent extent = maps[index].out.of(chunk);
      for (std::uint64_t i = 0; i < extent.elements; ++i) {
        std::int64_t wanted = 0;
        for (Rank source = 0; source < plan.ranks; ++source) {
          if (promise.source != kNoRank && promise.source != source) continue;
          const auto from = static_cast<std::size_t>(source);
          const Extent place = maps[from].in.of(promise.source_chunk);
          wanted += Elements(in_place ? inputs.out[from] : inputs.in[from]).get(place.offset + i);
        }
        if (promise.source == kNoRank) wanted /= plan.ranks;
        if (Elements(results.out[index]).get(extent.offset + i) != wanted) {
          return "rank " + std::to_string(rank) + " out[" + std::to_string(chunk) + "] element " + std::to_string(i);
        }
      }
    }
  }
  return {};
}

}  // namespace tutti::plan
