// A prepared plan with sizes: where every chunk of every step lies, counted from buffers whose addresses come with each
// call. Made once for calls of the same kind and size, kept, and run many times.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/host/kernels/kernels.h"
#include "engine/host/prepared.h"
#include "tutti/chunk_map.h"

namespace tutti::engine {

// One chunk of a slice. Offset: bytes from the beginning of the buffer; in scratch and stage the number of the chunk.
struct Piece {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t offset = 0;
  std::uint64_t bytes = kUnknown;  // scratch and stage have no sizes of their own
  Rank owner = kNoRank;
  plan::Buffer buffer = plan::Buffer::in;
  bool is_scaled = false;  // an input that the operation multiplies when it is loaded
};

struct LaunchStep {
  std::uint32_t first_piece = 0;  // all sources of chunk 0, its targets, then those of chunk 1 ...
  std::uint16_t source_count = 0;
  std::uint16_t target_count = 0;
  std::uint32_t chunk_count = 0;  // of the value; also 0 without slices (a token, or a value that is passed on)
  bool finish = false;
  bool has_value = false;
  bool stores_to_stage = false;
  std::uint32_t receive_pipe = 0;  // of the sender's pipes in this lane
  std::uint32_t send_pipe = 0;
  Rank send_to = kNoRank;
  // Over a wire, data need not be copied first. What is received may go straight to one of this rank's outputs, or to
  // its scratch ...
  static constexpr std::uint16_t kNowhere = 0xffff;
  std::uint16_t lands_in = kNowhere;  // this piece of each chunk
  // ... and what is sent may be read where it lies, because no later step stores there.
  std::uint16_t sent_from = kNowhere;
  bool sent_from_needs_apart = false;  // only where input and output are different memory
};

struct LaunchLane {
  std::vector<LaunchStep> steps;
  std::vector<Piece> pieces;
  bool uses_stage = false;
};

// How the outbox of a rank is divided; but for the hash the same on every rank, whatever the size of the call.
struct OutboxLayout {
  std::uint64_t tile_bytes = 0;  // room for a tile of one chunk
  std::uint64_t lane_bytes = 0;
  std::uint32_t stage_chunks = 0;
  std::uint32_t tiles_in_stage = 2;
  std::uint32_t slots = 2;
  std::uint32_t value_chunks = 0;
  std::uint64_t pipes_hash = 0;  // to whom this rank's pipes lead: the same slots may serve others in the next call

  std::uint64_t stage_at(std::uint32_t lane, std::uint32_t tile, std::uint64_t chunk) const {
    return lane * lane_bytes + (tile % tiles_in_stage * stage_chunks + chunk) * tile_bytes;
  }
  std::uint64_t slot_head_bytes() const;
  std::uint64_t slot_bytes() const { return slot_head_bytes() + value_chunks * tile_bytes; }
  std::uint64_t slot_at(std::uint32_t lane, std::uint32_t pipe, std::uint32_t value) const;
  std::uint64_t key() const;  // never 0
};

// What the bytes are.
struct Elements {
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::uint32_t bytes = 4;  // of one; of a custom operation's element
  bool is_custom = false;
  // What float32 becomes between hosts, float16 or bfloat16; nothing: it travels as it is.
  std::optional<DataType> wire_type = {};
};

struct Launch {
  std::shared_ptr<const Prepared> prepared;
  Elements elements;
  OutboxLayout outbox;
  std::uint64_t outbox_key = 0;
  std::vector<LaunchLane> lanes;
  std::uint64_t tile_bytes = 0;  // of a chunk
  std::uint32_t tiles = 1;
  std::uint64_t scratch_bytes = 0;  // per lane
  std::uint64_t staged_bytes =
      0;  // most that a rank stages, where it is one tile: decides whether a flash can carry it
  std::uint64_t flash_chunk_bytes = 0;  // room for a chunk among the staged ones
  std::uint32_t flash_lines = 1;        // that every staging rank fills
  bool is_streaming = false;            // outputs go around the caches
  bool is_mapped = false;
  Kernel kernel = nullptr;  // nullptr: custom
  bool scales_inputs = false;
  double input_factor = 1;  // of a narrow average; a scaled sum has one per rank
  Rank divide_by = 1;       // at finish
  Conversion conversion;    // to the wire type and back
  // A complete sum is rounded to the wire type where it is finished, so that whoever gets it over a wire, over memory
  // or made it has the same bits.
  bool rounds_sums = false;
};

struct LaunchOptions {
  std::uint64_t outbox_bytes = 0;
  // Tiles that the second cache holds, and outputs that it does not. The first two were measured with bench/compare,
  // the third by one rank program beside another on 2 cores of a virtual Xeon: 1 and 2 MiB gained, 4 and 8 MiB did not.
  std::uint64_t tile_bytes_max = 256 << 10;
  std::uint64_t streaming_from_bytes = 1 << 20;         // of a rank's output per call
  std::uint64_t streaming_copies_from_bytes = 4 << 20;  // the same where nothing is added up
  // Whatever others reach they have mapped. Otherwise the kernel may have to copy, which takes some room.
  bool is_mapped = false;
};

std::size_t bytes_of(const Launch& launch);  // with its plan

// Maps: of every rank.
Result<Launch> create_launch(std::shared_ptr<const Prepared> prepared, const std::vector<plan::ChunkMap>& maps,
                             const Elements& elements, const LaunchOptions& options, Rank self);

}  // namespace tutti::engine
