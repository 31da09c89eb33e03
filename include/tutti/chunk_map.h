// Where the chunks of a plan lie in a caller's buffers: the one place where a plan meets a size.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/plan.h"

namespace tutti::plan {

// A run of elements.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t elements = 0;
  bool operator==(const Extent&) const = default;
};

// How one buffer is divided into blocks and each block into `parts` chunks of nearly equal size.
class Layout {
 public:
  Layout() = default;
  // `elements` divided into chunks; every boundary but the last is a multiple of `align` elements.
  static Layout even(std::uint64_t elements, std::uint32_t chunks, std::uint64_t align = 1);
  // `block_count` blocks of the same size, one after the other.
  static Layout blocks(std::uint32_t block_count, std::uint64_t block_elements, std::uint32_t parts);
  // Blocks of any size (zero too) anywhere in the buffer.
  static Layout variable(std::vector<Extent> blocks, std::uint32_t parts);

  Extent of(std::uint32_t chunk) const;
  std::uint32_t chunk_count() const { return block_count_ * parts_; }
  std::uint64_t end() const;  // elements a buffer needs

 private:
  std::vector<Extent> variable_;
  std::uint64_t block_elements_ = 0;
  std::uint64_t align_ = 1;
  std::uint32_t block_count_ = 0;
  std::uint32_t parts_ = 1;
};

// The two buffers of one rank.
struct ChunkMap {
  Layout in;
  Layout out;
  const Layout& of(Buffer buffer) const { return buffer == Buffer::in ? in : out; }
};

// The maps of all ranks for a collective in which every block has `elements` elements (all_reduce, broadcast, reduce:
// the whole vector has).
std::vector<ChunkMap> even_maps(const Header& plan, std::uint64_t elements);

// counts[i] is the size of rank i's block; for all_to_all counts[i * ranks + j] is what rank i sends to rank j.
// Blocks lie one after the other.
Result<std::vector<ChunkMap>> variable_maps(const Header& plan, const std::vector<std::uint64_t>& counts);

}  // namespace tutti::plan
