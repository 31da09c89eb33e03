#include "tutti/chunk_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace tutti::plan {

namespace {

// Part `index` of `elements` divided into `parts`: whole multiples of `align`, the larger parts first.
Extent part_of(std::uint64_t elements, std::uint64_t parts, std::uint64_t index, std::uint64_t align) {
  const std::uint64_t units = (elements + align - 1) / align;
  const std::uint64_t small = units / parts;
  const std::uint64_t larger = units % parts;
  const auto begin_of = [&](std::uint64_t i) { return std::min(elements, (i * small + std::min(i, larger)) * align); };
  return {begin_of(index), begin_of(index + 1) - begin_of(index)};
}

}  // namespace

Layout Layout::even(std::uint64_t elements, std::uint32_t chunks, std::uint64_t align) {
  Layout layout = blocks(1, elements, chunks);
  layout.align_ = std::max<std::uint64_t>(align, 1);
  return layout;
}

Layout Layout::blocks(std::uint32_t block_count, std::uint64_t block_elements, std::uint32_t parts) {
  Layout layout;
  layout.block_count_ = block_count;
  layout.block_elements_ = block_elements;
  layout.parts_ = std::max<std::uint32_t>(parts, 1);
  return layout;
}

Layout Layout::variable(std::vector<Extent> blocks, std::uint32_t parts) {
  Layout layout;
  layout.block_count_ = static_cast<std::uint32_t>(blocks.size());
  layout.parts_ = std::max<std::uint32_t>(parts, 1);
  layout.variable_ = std::move(blocks);
  return layout;
}

Extent Layout::of(std::uint32_t chunk) const {
  TUTTI_DCHECK(chunk < chunk_count(), "the checker proves that no step leaves its buffer");
  const std::uint32_t block = chunk / parts_;
  const Extent whole =
      variable_.empty() ? Extent{std::uint64_t{block} * block_elements_, block_elements_} : variable_[block];
  const Extent part = part_of(whole.elements, parts_, chunk % parts_, align_);
  return {whole.offset + part.offset, part.elements};
}

std::uint64_t Layout::end() const {
  if (variable_.empty()) return std::uint64_t{block_count_} * block_elements_;
  std::uint64_t end = 0;
  for (const Extent& block : variable_) end = std::max(end, block.offset + block.elements);
  return end;
}

std::vector<ChunkMap> even_maps(const Header& plan, std::uint64_t elements) {
  const auto ranks = static_cast<std::uint32_t>(plan.ranks);
  const Layout layout = has_blocks(plan.collective) ? Layout::blocks(ranks, elements, plan.chunks / ranks)
                                                    : Layout::even(elements, plan.chunks);
  return std::vector<ChunkMap>(ranks, ChunkMap{layout, layout});
}

namespace {

Layout one_after_the_other(const std::vector<std::uint64_t>& counts, std::uint32_t parts) {
  std::vector<Extent> blocks;
  std::uint64_t offset = 0;
  for (const std::uint64_t count : counts) {
    blocks.push_back({offset, count});
    offset += count;
  }
  return Layout::variable(std::move(blocks), parts);
}

}  // namespace

Result<std::vector<ChunkMap>> variable_maps(const Header& plan, const std::vector<std::uint64_t>& counts) {
  const auto ranks = static_cast<std::size_t>(plan.ranks);
  const bool pairs = plan.collective == Collective::all_to_all;
  if (!has_variable_form(plan.collective)) {
    return invalid_argument(fmt::format("{} has no variable-count form", name_of(plan.collective)));
  }
  if (const std::size_t wanted = pairs ? ranks * ranks : ranks; counts.size() != wanted) {
    return invalid_argument(fmt::format("{} over {} ranks takes {} counts, not {}", name_of(plan.collective), ranks,
                                        wanted, counts.size()));
  }
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) {
    if (count > std::numeric_limits<std::uint64_t>::max() - total) {
      return invalid_argument("the counts add up to more than 2^64 elements");
    }
    total += count;
  }
  const auto parts = static_cast<std::uint32_t>(plan.chunks / ranks);
  if (!pairs) {
    const Layout layout = one_after_the_other(counts, parts);
    return std::vector<ChunkMap>(ranks, ChunkMap{layout, layout});
  }
  std::vector<ChunkMap> maps(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint64_t> sends(ranks);
    std::vector<std::uint64_t> receives(ranks);
    for (std::size_t other = 0; other < ranks; ++other) {
      sends[other] = counts[rank * ranks + other];
      receives[other] = counts[other * ranks + rank];
    }
    maps[rank] = {one_after_the_other(sends, parts), one_after_the_other(receives, parts)};
  }
  return maps;
}

}  // namespace tutti::plan
