// One call on bytes: what every rank gives, and what the reference says it gets.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/host/launch.h"
#include "plan/check/promise.h"
#include "tutti/interpret.h"
#include "tutti/prove.h"

namespace tutti::conformance {

// Bits of any value in narrow floats and integers; in wide floats numbers, zeros, infinities, tiny ones and NaNs.
inline void fill(DataType type, std::span<std::byte> bytes, Random& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() >> 56);
  const auto tame = [&]<class Float, class Bits>(Float, Bits) {
    for (std::size_t at = 0; at + sizeof(Float) <= bytes.size(); at += sizeof(Float)) {
      Float value = static_cast<Float>(static_cast<std::int64_t>(random.next() >> 40)) / 1024 - 8192;
      const Float specials[] = {Float(0), -Float(0), std::numeric_limits<Float>::infinity(),
                                std::numeric_limits<Float>::denorm_min(), std::numeric_limits<Float>::quiet_NaN()};
      if (random.below(16) == 0) value = specials[random.below(std::size(specials))];
      if (random.below(64) == 0) continue;  // any bits
      std::memcpy(bytes.data() + at, &value, sizeof(Float));
    }
  };
  if (type == DataType::float32) tame(float(), std::uint32_t());
  if (type == DataType::float64) tame(double(), std::uint64_t());
}

// A buffer that may begin anywhere, with bytes around it that nobody may touch.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t shift)
      : memory_(bytes + 2 * kGuard + shift, kMark), shift_(shift), size_(bytes) {}
  std::span<std::byte> bytes() { return {memory_.data() + kGuard + shift_, size_}; }
  bool is_intact() const {
    const auto is_mark = [](std::byte byte) { return byte == kMark; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(kGuard + shift_);
    return std::all_of(memory_.begin(), begin, is_mark) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(size_), memory_.end(), is_mark);
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kMark{0xc5};
  std::vector<std::byte> memory_;
  std::size_t shift_;
  std::size_t size_;
};

// Any NaN is as good as another where wide floats were added up: which of two payloads stays is the machine's choice.
inline bool is_same_element(DataType type, bool may_be_other_nan, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(type)) == 0) return true;
  if (!may_be_other_nan) return false;
  const auto are_nans = [&]<class Float>(Float x) {
    Float y;
    std::memcpy(&x, a, sizeof(Float));
    std::memcpy(&y, b, sizeof(Float));
    return std::isnan(x) && std::isnan(y);
  };
  if (type == DataType::float32) return are_nans(float());
  return type == DataType::float64 && are_nans(double());
}

struct Trial {
  plan::Case proof;
  std::vector<plan::ChunkMap> maps;
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::vector<double> factors;
  std::vector<bool> is_in_place;  // per rank
  engine::LaunchOptions options;
  bool prefers_flash = false;

  plan::Plan plan;
  std::vector<Guarded> in;
  std::vector<Guarded> out;
  std::vector<std::vector<std::byte>> wanted_in;
  std::vector<std::vector<std::byte>> wanted_out;

  std::string text() const {
    std::string places;
    for (const bool in_place : is_in_place) places += in_place ? 'i' : 'o';
    return fmt::format("{} {} {} reach {}, {} elements, places {}, outbox {}, tiles of at most {}", proof.text(),
                       name_of(type), name_of(op), plan::name_of(proof.shape.reach),
                       maps.empty() ? 0 : maps[0].in.end(), places, options.outbox_bytes, options.tile_bytes_max);
  }
  std::byte* in_of(std::size_t rank) { return is_in_place[rank] ? out_of(rank) : in[rank].bytes().data(); }
  std::byte* out_of(std::size_t rank) { return out[rank].bytes().data(); }

  void make_buffers(Random& random) {
    const std::size_t size = size_of(type);
    for (std::size_t rank = 0; rank < maps.size(); ++rank) {
      const std::size_t shift = random.below(3) == 0 ? random.below(64) : random.below(16) * size;
      in.emplace_back(maps[rank].in.end() * size, shift);
      out.emplace_back(std::max(maps[rank].in.end(), maps[rank].out.end()) * size, random.below(2) * shift);
      fill(type, in.back().bytes(), random);
      fill(type, out.back().bytes(), random);
      if (!is_in_place[rank]) continue;
      for_each_chunk(rank, plan::Buffer::in, [&](std::uint64_t at, std::uint64_t bytes) {
        if (bytes > 0) std::memcpy(out_of(rank) + at, in[rank].bytes().data() + at, bytes);
      });
    }
  }

  // What the reference gives, computed before the buffers are used.
  Status foresee(std::uint64_t tile_bytes, std::uint64_t seed) {
    plan::Memories memories = plan::create_memories(maps, type);
    for (std::size_t rank = 0; rank < maps.size(); ++rank) {
      const auto own = in[rank].bytes();
      memories.in[rank].assign(own.begin(), own.end());
    }
    const plan::InterpretOptions how{.type = type,
                                     .op = op,
                                     .factors = factors,
                                     .seed = seed,
                                     .tile_elements = std::max<std::uint64_t>(1, tile_bytes / size_of(type))};
    TUTTI_TRY(plan::interpret(plan, maps, how, memories));
    for (std::size_t rank = 0; rank < maps.size(); ++rank) {
      wanted_in.emplace_back(in[rank].bytes().begin(), in[rank].bytes().end());
      wanted_out.emplace_back(out[rank].bytes().begin(), out[rank].bytes().end());
      for_each_chunk(rank, plan::Buffer::out, [&](std::uint64_t at, std::uint64_t bytes) {
        if (bytes > 0) std::memcpy(wanted_out[rank].data() + at, memories.out[rank].data() + at, bytes);
      });
    }
    return {};
  }

  // Where the buffers differ from what the reference says; empty: nowhere.
  std::string first_difference() {
    const bool may_be_other_nan = plan::reduces(plan.collective) && plan.ranks > 1;
    for (std::size_t rank = 0; rank < maps.size(); ++rank) {
      if (!in[rank].is_intact() || !out[rank].is_intact()) return fmt::format("rank {} left its buffers", rank);
      const auto inputs = in[rank].bytes();
      if (!std::equal(inputs.begin(), inputs.end(), wanted_in[rank].begin())) {
        return fmt::format("the input of rank {} was written to", rank);
      }
      const std::size_t size = size_of(type);
      for (std::size_t at = 0; at + size <= wanted_out[rank].size(); at += size) {
        if (!is_same_element(type, may_be_other_nan, out_of(rank) + at, wanted_out[rank].data() + at)) {
          return fmt::format("element {} of the output of rank {}", at / size, rank);
        }
      }
    }
    return {};
  }

 private:
  template <class Each>
  void for_each_chunk(std::size_t rank, plan::Buffer buffer, Each each) const {
    for (std::uint32_t chunk = 0; chunk < plan.chunks; ++chunk) {
      if (!plan::has_chunk(plan, static_cast<Rank>(rank), buffer, chunk)) continue;
      const plan::Extent extent = maps[rank].of(buffer).of(chunk);
      each(extent.offset * size_of(type), extent.elements * size_of(type));
    }
  }
};

}  // namespace tutti::conformance
