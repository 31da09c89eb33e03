// What elements add up to, computed for one element after the other in order of ranks; and inputs that add up exactly.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::programs {

struct Reduced {
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  std::vector<int> factors;  // of a PreMulSum, by rank; otherwise empty
};

// inputs: of every rank, as many elements as fit into out. False: the order of additions could matter, and out is
// undefined.
bool reduce_exactly(const Reduced& how, const std::vector<std::span<const std::byte>>& inputs,
                    std::span<std::byte> out);

// The input of a rank. Together with those of the others it can be reduced exactly.
void fill(const Reduced& how, std::uint64_t seed, int rank, int size, std::span<std::byte> elements);

// The scalar of a PreMulSum.
std::vector<std::byte> scalar_of(ncclDataType_t type, int factor);

}  // namespace tutti::programs
