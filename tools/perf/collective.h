// What the perf tools measure: the collectives of nccl-tests, each with its sizes, its calls and what it promises.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tools/perf/element.h"
#include "tools/perf/traffic.h"
#include "tutti/status.h"

namespace tutti::perf {

// What one size means; in elements.
struct Layout {
  std::uint64_t call_count = 0;  // what the function is given
  std::uint64_t send_count = 0;
  std::uint64_t receive_count = 0;
  // In place, both buffers of a rank lie in its receive buffer: so many elements for each rank before it.
  std::uint64_t send_offset = 0;
  std::uint64_t receive_offset = 0;
};

struct Shape {
  std::uint64_t bytes = 0;  // as asked for
  std::size_t element_bytes = 4;
  int ranks = 1;
  const Traffic* traffic = nullptr;  // of alltoallv
};

// Elements of a rank's receive buffer, and whose input they come from; Pattern::kAllRanks: of the reduction.
struct Piece {
  std::uint64_t at = 0;
  std::uint64_t count = 0;
  int source = 0;
  std::uint64_t first = 0;  // in the input
};

struct CallSite {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;
  const ElementType* type = nullptr;
  ncclRedOp_t operation = ncclSum;
  int root = 0;
  int rank = 0;
  int round = 0;
  const Shape* shape = nullptr;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

struct Collective {
  std::string_view name;             // "all_reduce", of the tool all_reduce_perf
  std::string_view shown_operation;  // in the table, where it does not reduce
  bool reduces = false;
  bool has_root = false;
  bool checks_in_place = true;  // false: the result is not defined there
  Layout (*layout)(const Shape&) = nullptr;
  std::vector<Piece> (*pieces)(const Shape&, int rank, int root) = nullptr;
  int (*rounds)(int ranks) = nullptr;  // groups that have to end one after the other
  Status (*start)(const CallSite&) = nullptr;
  double (*moved_bytes)(const Shape&) = nullptr;  // what the algorithm bandwidth counts
  double (*bus_factor)(int ranks) = nullptr;
};

std::span<const Collective> collectives();
const Collective* find_collective(std::string_view name);  // with or without "_perf"; nullptr: no such

}  // namespace tutti::perf
