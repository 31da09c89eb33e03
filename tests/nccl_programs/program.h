// A program of the NCCL interface as plain data: who takes part, which communicators there are, and what is called.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tutti::programs {

enum class StreamKind : std::uint8_t { legacy, per_thread, blocking, non_blocking };

// A player is what has a device, streams and buffers of its own: a rank of every communicator that it is a member of.
struct Player {
  int device = 0;
  int thread = 0;  // several players may share one
};

enum class CallKind : std::uint8_t {
  all_reduce,
  broadcast,
  bcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  messages,  // sends and receives, all in one group
};
inline constexpr int kCallKinds = 10;

enum class Scalar : std::uint8_t { none, host, device };  // of a PreMulSum: where the factor lies

struct Place {
  int buffer = 0;
  std::size_t offset = 0;  // in bytes
};

// What one rank of a call brings along.
struct Seat {
  int stream = 0;
  Place in = {};
  Place out = {};
  int factor = 1;          // of a PreMulSum
  bool has_nulls = false;  // buffers that the rank does not need are NULL
};

struct Message {
  int source = 0;  // ranks
  int target = 0;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  std::size_t source_offset = 0;  // in bytes, from the place of the seat
  std::size_t target_offset = 0;
};

struct Call {
  CallKind kind = CallKind::all_reduce;
  int comm = 0;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  Scalar scalar = Scalar::none;  // otherwise op is a PreMulSum
  int root = 0;
  bool fills = false;  // inputs are written anew, on the same stream: those that lie there may not add up exactly
  std::uint64_t fill_seed = 0;
  std::vector<Seat> seats = {};  // by rank
  std::vector<Message> messages = {};
};

// Calls that begin together. A thread that makes one call only may do without ncclGroupStart.
struct Group {
  std::vector<Call> calls = {};
  int depth = 0;           // of nested groups; 0: none where none is needed
  bool is_by_call = true;  // otherwise by player first
  bool sets_device = true;
  int replays = 0;  // of the graph that the streams are captured into, which has one call; 0: they are not captured
};

enum class How : std::uint8_t { init_all, init_rank, init_rank_config, init_rank_scalable, split, shrink, grow };

// Communicators that come into being together.
struct Making {
  How how = How::init_rank;
  int parent = -1;
  std::vector<int> callers = {};  // players, by rank of the parent, or of the new one
  std::vector<int> comms = {};    // what each caller gets; -1: nothing
  std::vector<int> colors = {};   // of each caller
  std::vector<int> keys = {};
  std::vector<int> excluded = {};  // ranks of the parent
  int giver = 0;                   // of a grow: the rank of the parent that has the identifier
  bool is_blocking = true;
  bool is_grouped = false;
};

struct Copy {
  int player = 0;
  int stream = 0;
  Place source = {};
  Place target = {};
  std::size_t bytes = 0;
};

struct Set {
  int player = 0;
  int stream = 0;
  Place target = {};
  std::size_t bytes = 0;
  int value = 0;
};

enum class WaitKind : std::uint8_t { stream, query, event, device };
// After it, buffers that were last used on the stream hold what they must.
struct Wait {
  int player = 0;
  int stream = 0;
  WaitKind kind = WaitKind::stream;
};

// Every member is done with a communicator.
struct Ending {
  int comm = 0;
  std::vector<bool> finalizes = {};  // by rank, before it is destroyed
};

// One member aborts a communicator in which the others wait for it.
struct Quitting {
  int comm = 0;
  int rank = 0;
};

enum class Wrong : std::uint8_t {
  null_comm,
  destroyed_comm,
  no_type,
  no_op,
  root_out_of_range,
  peer_out_of_range,
  null_input,
  null_output,
  null_message,
  unknown_stream,
  destroyed_stream,
  stream_of_another_device,
  scaled_on_stream_of_another_device,
  destroyed_op,
  op_of_another_type,
  count_too_large,
  no_group_to_end,
  config_not_initialised,
  rank_out_of_range,
  no_ranks,
  no_identifier,
  no_place,
  bad_color,
  shrink_without_others,
  shrink_of_itself,
  no_place_for_error,
};
inline constexpr int kWrongs = static_cast<int>(Wrong::no_place_for_error) + 1;

// A call that must be refused on every member and change nothing, nor must a group that it stands in.
struct WrongCall {
  Wrong wrong = Wrong::null_comm;
  int comm = 0;
  bool is_grouped = false;
};

using Step = std::variant<Making, Group, Copy, Set, Wait, Ending, Quitting, WrongCall>;

struct Program {
  std::uint64_t seed = 0;
  std::vector<Player> players = {};
  std::vector<StreamKind> streams = {};  // each player has them
  int buffer_count = 0;                  // likewise
  std::size_t buffer_bytes = 0;
  std::vector<std::vector<int>> comms;  // players by rank
  std::vector<Step> steps = {};
};

std::size_t bytes_of(ncclDataType_t type);
// Elements that a rank of so many gives and gets; 0 where a buffer is not needed.
std::size_t in_elements(const Call& call, int rank, int size);
std::size_t out_elements(const Call& call, int rank, int size);
bool reduces(CallKind kind);

enum class Validity : std::uint8_t { valid, has_wrong_calls };
Program draw_program(std::uint64_t seed, Validity validity);
// Without the steps of these numbers. Only steps that others do not need can be left out.
Program without(Program program, const std::vector<std::size_t>& steps);
bool can_be_dropped(const Step& step);

// One step a line.
std::string text_of(const Program& program);
const char* name_of(Wrong wrong);

}  // namespace tutti::programs
