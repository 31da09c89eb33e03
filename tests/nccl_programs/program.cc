#include "tests/nccl_programs/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tests/nccl_programs/model.h"

namespace tutti::programs {

std::size_t bytes_of(ncclDataType_t type) {
  constexpr std::array<std::size_t, ncclNumTypes> kBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

bool reduces(CallKind kind) {
  return kind == CallKind::all_reduce || kind == CallKind::reduce || kind == CallKind::reduce_scatter;
}

std::size_t in_elements(const Call& call, int rank, int size) {
  const bool is_root = rank == call.root;
  switch (call.kind) {
    case CallKind::all_reduce:
    case CallKind::reduce:
    case CallKind::all_gather:
    case CallKind::gather: return call.count;
    case CallKind::broadcast:
    case CallKind::bcast: return is_root ? call.count : 0;
    case CallKind::reduce_scatter:
    case CallKind::all_to_all: return call.count * static_cast<std::size_t>(size);
    case CallKind::scatter: return is_root ? call.count * static_cast<std::size_t>(size) : 0;
    case CallKind::messages: break;
  }
  return 0;
}

std::size_t out_elements(const Call& call, int rank, int size) {
  const bool is_root = rank == call.root;
  switch (call.kind) {
    case CallKind::all_reduce:
    case CallKind::broadcast:
    case CallKind::bcast:
    case CallKind::reduce_scatter:
    case CallKind::scatter: return call.count;
    case CallKind::reduce: return is_root ? call.count : 0;
    case CallKind::all_gather:
    case CallKind::all_to_all: return call.count * static_cast<std::size_t>(size);
    case CallKind::gather: return is_root ? call.count * static_cast<std::size_t>(size) : 0;
    case CallKind::messages: break;
  }
  return 0;
}

bool can_be_dropped(const Step& step) {
  return !std::holds_alternative<Making>(step) && !std::holds_alternative<Ending>(step) &&
         !std::holds_alternative<Quitting>(step);
}

Program without(Program program, const std::vector<std::size_t>& steps) {
  std::vector<Step> kept;
  for (std::size_t index = 0; index < program.steps.size(); ++index) {
    const bool is_dropped = std::ranges::find(steps, index) != steps.end();
    // Numbers of steps stay what they are.
    kept.push_back(is_dropped && can_be_dropped(program.steps[index]) ? Step(Group{}) : program.steps[index]);
  }
  program.steps = std::move(kept);
  settle(program);
  return program;
}

const char* name_of(Wrong wrong) {
  constexpr std::array<const char*, kWrongs> kNames = {"null comm",
                                                       "destroyed comm",
                                                       "no type",
                                                       "no op",
                                                       "root out of range",
                                                       "peer out of range",
                                                       "null input",
                                                       "null output",
                                                       "null message",
                                                       "unknown stream",
                                                       "destroyed stream",
                                                       "stream of another device",
                                                       "scaled sum on a stream of another device",
                                                       "destroyed op",
                                                       "op of another type",
                                                       "count too large",
                                                       "no group to end",
                                                       "config not initialised",
                                                       "rank out of range",
                                                       "no ranks",
                                                       "no identifier",
                                                       "no place for the communicator",
                                                       "bad color",
                                                       "shrink without others",
                                                       "shrink of itself",
                                                       "no place for the error"};
  return kNames[static_cast<std::size_t>(wrong)];
}

namespace {

std::string text_of(const Place& place) { return fmt::format("{}+{}", place.buffer, place.offset); }

struct Text {
  const Program& program;

  std::string operator()(const Making& making) const {
    constexpr std::array<const char*, 7> kHow = {
        "init all", "init rank", "init rank config", "init rank scalable", "split", "shrink", "grow"};
    return fmt::format("{} of {}: players {} get {} (colors {}, keys {}, excluded {}){}{}",
                       kHow[static_cast<std::size_t>(making.how)], making.parent, making.callers, making.comms,
                       making.colors, making.keys, making.excluded, making.is_blocking ? "" : " non-blocking",
                       making.is_grouped ? " grouped" : "");
  }
  std::string operator()(const Call& call) const {
    constexpr std::array<const char*, kCallKinds> kNames = {"all_reduce", "broadcast",      "bcast",      "reduce",
                                                            "all_gather", "reduce_scatter", "all_to_all", "gather",
                                                            "scatter",    "messages"};
    std::string text =
        fmt::format("{} on comm {} count {} type {} op {} scalar {} root {}{}",
                    kNames[static_cast<std::size_t>(call.kind)], call.comm, call.count, static_cast<int>(call.type),
                    static_cast<int>(call.op), static_cast<int>(call.scalar), call.root, call.fills ? " fills" : "");
    for (const Seat& seat : call.seats)
      text += fmt::format(" [s{} {}>{}]", seat.stream, text_of(seat.in), text_of(seat.out));
    for (const Message& message : call.messages)
      text += fmt::format(" ({}>{} {}x{} {}>{})", message.source, message.target, message.count,
                          static_cast<int>(message.type), message.source_offset, message.target_offset);
    return text;
  }
  std::string operator()(const Group& group) const {
    std::string text = fmt::format("group depth {}{}{}", group.depth, group.is_by_call ? "" : " by player",
                                   group.sets_device ? "" : " any device");
    if (group.replays > 0) text += fmt::format(" captured, runs {} times", group.replays);
    for (const Call& call : group.calls) text += "\n      " + (*this)(call);
    return text;
  }
  std::string operator()(const Copy& copy) const {
    return fmt::format("player {} stream {} copies {} bytes {}>{}", copy.player, copy.stream, copy.bytes,
                       text_of(copy.source), text_of(copy.target));
  }
  std::string operator()(const Set& set) const {
    return fmt::format("player {} stream {} sets {} bytes of {}", set.player, set.stream, set.bytes,
                       text_of(set.target));
  }
  std::string operator()(const Wait& wait) const {
    return fmt::format("player {} waits for stream {} (way {})", wait.player, wait.stream, static_cast<int>(wait.kind));
  }
  std::string operator()(const Ending& ending) const { return fmt::format("comm {} ends", ending.comm); }
  std::string operator()(const Quitting& quitting) const {
    return fmt::format("rank {} of comm {} aborts it", quitting.rank, quitting.comm);
  }
  std::string operator()(const WrongCall& wrong) const {
    return fmt::format("wrong call on comm {}: {}{}", wrong.comm, name_of(wrong.wrong),
                       wrong.is_grouped ? ", grouped" : "");
  }
};

}  // namespace

std::string text_of(const Program& program) {
  std::string text =
      fmt::format("seed {}, {} buffers of {} bytes, streams", program.seed, program.buffer_count, program.buffer_bytes);
  for (const StreamKind kind : program.streams) text += fmt::format(" {}", static_cast<int>(kind));
  for (std::size_t index = 0; index < program.players.size(); ++index)
    text += fmt::format("\n  player {}: device {} thread {}", index, program.players[index].device,
                        program.players[index].thread);
  for (std::size_t index = 0; index < program.comms.size(); ++index)
    text += fmt::format("\n  comm {}: players {}", index, program.comms[index]);
  for (std::size_t index = 0; index < program.steps.size(); ++index) {
    const auto* group = std::get_if<Group>(&program.steps[index]);
    if (group != nullptr && group->calls.empty()) continue;
    text += fmt::format("\n  {:3} {}", index, std::visit(Text{program}, program.steps[index]));
  }
  return text + "\n";
}

}  // namespace tutti::programs
