// The reference: runs a plan on real bytes, one step at a time in an order drawn from a seed. Slow, simple, and the
// expected result for every engine, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/chunk_map.h"
#include "tutti/plan.h"

namespace tutti::plan {

struct InterpretOptions {
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::vector<double> factors;      // of a scaled sum, one per rank; empty: 1
  std::uint64_t seed = 0;           // decides the order of steps, which decides nothing else
  std::uint64_t tile_elements = 0;  // 0: each chunk is one tile
  bool in_place = false;
};

// The buffers of all ranks. In place only `out` is used: it holds the inputs first, where in[c] is out[c].
struct Memories {
  std::vector<std::vector<std::byte>> in;
  std::vector<std::vector<std::byte>> out;
};

// Buffers of the sizes that the maps need, zero.
Memories create_memories(const std::vector<ChunkMap>& maps, DataType type);

// Fails if a step can never run, leaves its buffer or meets a message of another size; check() says more.
Status interpret(const Plan& plan, const std::vector<ChunkMap>& maps, const InterpretOptions& options,
                 Memories& memories);

}  // namespace tutti::plan
