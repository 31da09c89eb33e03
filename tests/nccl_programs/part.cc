#include "tests/nccl_programs/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>

#include "tests/nccl_programs/actor.h"
#include "tests/nccl_programs/quitting.h"
#include "tests/nccl_programs/wrong.h"

namespace tutti::programs {
namespace {

bool needs_identifier(const Step& step) {
  const auto* making = std::get_if<Making>(&step);
  return making != nullptr && (making->parent < 0 || making->how == How::grow);
}

// A rank of a communicator that this thread plays.
struct Turn {
  Actor* actor;
  int rank;
};

class Part {
 public:
  Part(const Program& program, const Expected& expected, const Identifiers& identifiers)
      : program_(program), expected_(expected), identifiers_(identifiers) {}

  std::string play(const std::vector<int>& players) {
    for (const int player : players) actors_.push_back(std::make_unique<Actor>(program_, player));
    for (step_ = 0; step_ < program_.steps.size() && is_well(); ++step_)
      std::visit([this](const auto& step) { run(step); }, program_.steps[step_]);
    for (const auto& actor : actors_) {
      if (is_well()) actor->compare(expected_.players[static_cast<std::size_t>(actor->player())]);
    }
    const bool was_well = is_well();
    for (const auto& actor : actors_)
      for (std::size_t number = 0; !was_well && number < program_.comms.size(); ++number)
        if (actor->comm(static_cast<int>(number)) != nullptr) ncclCommAbort(actor->comm(static_cast<int>(number)));
    return problem_;
  }

 private:
  bool is_well() {
    for (const auto& actor : actors_)
      if (problem_.empty() && !actor->problem().empty()) problem_ = fmt::format("step {}: {}", step_, actor->problem());
    return problem_.empty();
  }
  void check(ncclResult_t result, const char* what) {
    if (result == ncclSuccess || result == ncclInProgress || !problem_.empty()) return;
    problem_ =
        fmt::format("step {}: {} said {}: {}", step_, what, ncclGetErrorString(result), ncclGetLastError(nullptr));
  }
  Actor* find(int player) {
    for (const auto& actor : actors_)
      if (actor->player() == player) return actor.get();
    return nullptr;
  }
  std::vector<Turn> turns_of(const std::vector<int>& players) {
    std::vector<Turn> turns;
    for (std::size_t index = 0; index < players.size(); ++index)
      if (Actor* actor = find(players[index])) turns.push_back({actor, static_cast<int>(index)});
    return turns;
  }
  const std::vector<int>& members(int comm) const { return program_.comms[static_cast<std::size_t>(comm)]; }

  void run(const Copy& copy) {
    if (Actor* actor = find(copy.player)) actor->copy(copy);
  }
  void run(const Set& set) {
    if (Actor* actor = find(set.player)) actor->set(set);
  }
  void run(const Wait& wait) {
    if (Actor* actor = find(wait.player)) actor->wait(wait, expected_.checksums.at(step_));
  }

  void run(const Ending& ending) {
    for (const Turn& turn : turns_of(members(ending.comm))) {
      ncclComm_t& comm = turn.actor->comm(ending.comm);
      if (ending.finalizes[static_cast<std::size_t>(turn.rank)]) {
        check(ncclCommFinalize(comm), "ncclCommFinalize");
        await(comm);
      }
      check(ncclCommDestroy(comm), "ncclCommDestroy");
      comm = nullptr;
    }
  }

  void run(const Quitting& quitting) {
    std::vector<Quitter> quitters;
    for (const Turn& turn : turns_of(members(quitting.comm))) {
      turn.actor->settle();
      ncclComm_t& comm = turn.actor->comm(quitting.comm);
      quitters.push_back({.comm = comm, .device = turn.actor->device(), .aborts = turn.rank == quitting.rank});
      comm = nullptr;
    }
    const std::string problem = quit(quitters);
    if (!problem.empty() && problem_.empty()) problem_ = fmt::format("step {}: {}", step_, problem);
  }

  void run(const WrongCall& wrong) {
    for (const Turn& turn : turns_of(members(wrong.comm))) {
      const Scene scene{.comm = turn.actor->comm(wrong.comm),
                        .rank = turn.rank,
                        .size = static_cast<int>(members(wrong.comm).size()),
                        .device = turn.actor->device(),
                        .stream = turn.actor->stream(0),
                        .memory = turn.actor->at({}),
                        .is_grouped = wrong.is_grouped};
      const std::string problem = attempt(wrong.wrong, scene);
      if (!problem.empty() && problem_.empty()) problem_ = fmt::format("step {}: {}", step_, problem);
    }
  }

  // Until it is made, or has ended.
  void await(ncclComm_t comm) {
    ncclResult_t result = ncclInProgress;
    while (result == ncclInProgress) {
      check(ncclCommGetAsyncError(comm, &result), "ncclCommGetAsyncError");
      if (!problem_.empty()) return;
      if (result == ncclInProgress) std::this_thread::yield();
    }
    check(result, "ncclCommGetAsyncError");
  }

  void run(const Making& making) {
    const std::vector<Turn> turns = turns_of(making.callers);
    if (turns.empty()) return;
    const bool has_all = turns.size() == making.callers.size();
    if (making.how == How::init_all && has_all) {
      init_all(making, turns);
    } else {
      const bool is_grouped = turns.size() > 1 || making.is_grouped;
      if (is_grouped) check(ncclGroupStart(), "ncclGroupStart");
      for (const Turn& turn : turns) make(making, turn);
      if (is_grouped) check(ncclGroupEnd(), "ncclGroupEnd");
    }
    for (const Turn& turn : turns)
      if (problem_.empty()) inspect(making, turn);
  }

  void init_all(const Making& making, const std::vector<Turn>& turns) {
    std::vector<int> devices;
    std::vector<ncclComm_t> comms(turns.size());
    for (const Turn& turn : turns) devices.push_back(turn.actor->device());
    check(ncclCommInitAll(comms.data(), static_cast<int>(turns.size()), devices.data()), "ncclCommInitAll");
    for (std::size_t index = 0; index < turns.size(); ++index) turns[index].actor->comm(making.comms[0]) = comms[index];
  }

  void make(const Making& making, const Turn& turn) {
    const auto at = static_cast<std::size_t>(turn.rank);
    const int comm = making.comms[at];
    ncclComm_t none = nullptr;
    ncclComm_t* handle = comm < 0 ? &none : &turn.actor->comm(comm);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = making.is_blocking ? 1 : 0;
    const int size = static_cast<int>(making.callers.size());
    cudaSetDevice(turn.actor->device());
    const auto identifier = [&] { return identifiers_.at(step_); };
    switch (making.how) {
      case How::init_all:
      case How::init_rank: return check(ncclCommInitRank(handle, size, identifier(), turn.rank), "ncclCommInitRank");
      case How::init_rank_config:
        return check(ncclCommInitRankConfig(handle, size, identifier(), turn.rank, &config), "ncclCommInitRankConfig");
      case How::init_rank_scalable: {
        ncclUniqueId id = identifier();
        return check(ncclCommInitRankScalable(handle, size, turn.rank, 1, &id, &config), "ncclCommInitRankScalable");
      }
      case How::split:
        return check(ncclCommSplit(turn.actor->comm(making.parent), making.colors[at], making.keys[at], handle,
                                   making.keys[0] % 2 == 0 ? &config : nullptr),
                     "ncclCommSplit");
      case How::grow: {
        const ncclUniqueId id = identifier();
        const ncclComm_t parent = turn.actor->comm(making.parent);
        const bool has_identifier = parent == nullptr || turn.rank == making.giver;
        return check(ncclCommGrow(parent, size, has_identifier ? &id : nullptr, parent == nullptr ? turn.rank : -1,
                                  handle, &config),
                     "ncclCommGrow");
      }
      case How::shrink: break;
    }
    std::vector<int> excluded = making.excluded;
    check(ncclCommShrink(turn.actor->comm(making.parent), excluded.data(), static_cast<int>(excluded.size()), handle,
                         nullptr, NCCL_SHRINK_DEFAULT),
          "ncclCommShrink");
  }

  void inspect(const Making& making, const Turn& turn) {
    const int number = making.comms[static_cast<std::size_t>(turn.rank)];
    // Until that is done, the one that it is made from takes no calls either.
    if (making.parent >= 0 && turn.actor->comm(making.parent) != nullptr) await(turn.actor->comm(making.parent));
    if (number < 0 || !problem_.empty()) return;
    const ncclComm_t comm = turn.actor->comm(number);
    await(comm);
    int count = -1;
    int rank = -1;
    int device = -1;
    check(ncclCommCount(comm, &count), "ncclCommCount");
    check(ncclCommUserRank(comm, &rank), "ncclCommUserRank");
    check(ncclCommCuDevice(comm, &device), "ncclCommCuDevice");
    const auto& all = members(number);
    const auto wanted = std::ranges::find(all, turn.actor->player()) - all.begin();
    if (problem_.empty() && (count != static_cast<int>(all.size()) || rank != wanted || device != turn.actor->device()))
      problem_ =
          fmt::format("step {}: comm {} has rank {} of {} on device {}; rank {} of {} on device {} was asked for",
                      step_, number, rank, count, device, wanted, all.size(), turn.actor->device());
  }

  // One call of the interface, or a message's half.
  struct Issue {
    std::size_t call_index;
    const Call* call;
    Turn turn;
    ncclRedOp_t op = ncclSum;
  };

  void run(const Group& group) {
    std::vector<Issue> issues;
    for (std::size_t index = 0; index < group.calls.size(); ++index)
      for (const Turn& turn : turns_of(members(group.calls[index].comm)))
        issues.push_back({.call_index = index, .call = &group.calls[index], .turn = turn});
    for (Issue& issue : issues) prepare(issue);
    if (!group.is_by_call)
      std::ranges::stable_sort(issues, {}, [](const Issue& issue) { return issue.turn.actor->player(); });
    std::size_t count = 0;
    for (const Issue& issue : issues) count += halves_of(issue);
    if (count == 0) return;
    const int depth = count > 1 ? std::max(group.depth, 1) : group.depth;
    for (const Issue& issue : issues)
      if (group.replays > 0) issue.turn.actor->begin_capture(seat_of(issue).stream);
    // Nested groups are nothing of their own.
    for (int level = 0; level < depth; ++level) check(ncclGroupStart(), "ncclGroupStart");
    for (const Issue& issue : issues) {
      if (group.sets_device) cudaSetDevice(issue.turn.actor->device());
      if (depth > 1) check(ncclGroupStart(), "ncclGroupStart");
      call(issue);
      if (depth > 1) check(ncclGroupEnd(), "ncclGroupEnd");
    }
    for (int level = 0; level < depth; ++level) check(ncclGroupEnd(), "ncclGroupEnd");
    for (const Issue& issue : issues)
      if (group.replays > 0) issue.turn.actor->replay(seat_of(issue).stream, group.replays);
    for (const Issue& issue : issues)
      if (issue.call->scalar != Scalar::none)
        check(ncclRedOpDestroy(issue.op, issue.turn.actor->comm(issue.call->comm)), "ncclRedOpDestroy");
  }

  static const Seat& seat_of(const Issue& issue) {
    return issue.call->seats[static_cast<std::size_t>(issue.turn.rank)];
  }

  static std::size_t halves_of(const Issue& issue) {
    if (issue.call->kind != CallKind::messages) return 1;
    std::size_t count = 0;
    for (const Message& message : issue.call->messages)
      count += (message.source == issue.turn.rank ? 1u : 0u) + (message.target == issue.turn.rank ? 1u : 0u);
    return count;
  }

  void prepare(Issue& issue) {
    const Call& call = *issue.call;
    const Seat& seat = seat_of(issue);
    Actor& actor = *issue.turn.actor;
    actor.take(seat.in.buffer, seat.stream);
    actor.take(seat.out.buffer, seat.stream);
    if (call.fills) actor.write(actor.at(seat.in), filling_of(program_, call, issue.turn.rank), seat.stream);
    issue.op = call.op;
    if (call.scalar == Scalar::none) return;
    std::vector<std::byte> scalar = scalar_of(call.type, seat.factor);
    void* place = scalar.data();
    if (call.scalar == Scalar::device) {
      place = actor.scalar(step_, issue.call_index);
      actor.write(actor.scalar(step_, issue.call_index), scalar, seat.stream);
    }
    check(ncclRedOpCreatePreMulSum(&issue.op, place, call.type,
                                   call.scalar == Scalar::device ? ncclScalarDevice : ncclScalarHostImmediate,
                                   actor.comm(call.comm)),
          "ncclRedOpCreatePreMulSum");
  }

  void call(const Issue& issue) {
    const Call& c = *issue.call;
    const Seat& seat = seat_of(issue);
    Actor& actor = *issue.turn.actor;
    const int size = static_cast<int>(c.seats.size());
    const bool needs_in = in_elements(c, issue.turn.rank, size) > 0 || !seat.has_nulls;
    const bool needs_out = out_elements(c, issue.turn.rank, size) > 0 || !seat.has_nulls;
    const void* in = needs_in ? actor.at(seat.in) : nullptr;
    void* out = needs_out ? actor.at(seat.out) : nullptr;
    const cudaStream_t stream = actor.stream(seat.stream);
    const ncclComm_t comm = actor.comm(c.comm);
    switch (c.kind) {
      case CallKind::all_reduce:
        return check(ncclAllReduce(in, out, c.count, c.type, issue.op, comm, stream), "ncclAllReduce");
      case CallKind::broadcast:
        return check(ncclBroadcast(in, out, c.count, c.type, c.root, comm, stream), "ncclBroadcast");
      case CallKind::bcast: return check(ncclBcast(out, c.count, c.type, c.root, comm, stream), "ncclBcast");
      case CallKind::reduce:
        return check(ncclReduce(in, out, c.count, c.type, issue.op, c.root, comm, stream), "ncclReduce");
      case CallKind::all_gather: return check(ncclAllGather(in, out, c.count, c.type, comm, stream), "ncclAllGather");
      case CallKind::reduce_scatter:
        return check(ncclReduceScatter(in, out, c.count, c.type, issue.op, comm, stream), "ncclReduceScatter");
      case CallKind::all_to_all: return check(ncclAlltoAll(in, out, c.count, c.type, comm, stream), "ncclAlltoAll");
      case CallKind::gather: return check(ncclGather(in, out, c.count, c.type, c.root, comm, stream), "ncclGather");
      case CallKind::scatter: return check(ncclScatter(in, out, c.count, c.type, c.root, comm, stream), "ncclScatter");
      case CallKind::messages: break;
    }
    exchange(issue, comm, stream);
  }

  void exchange(const Issue& issue, ncclComm_t comm, cudaStream_t stream) {
    const Seat& seat = seat_of(issue);
    const Actor& actor = *issue.turn.actor;
    for (const Message& message : issue.call->messages) {
      if (message.source == issue.turn.rank)
        check(ncclSend(actor.at(seat.in) + message.source_offset, message.count, message.type, message.target, comm,
                       stream),
              "ncclSend");
      if (message.target == issue.turn.rank)
        check(ncclRecv(actor.at(seat.out) + message.target_offset, message.count, message.type, message.source, comm,
                       stream),
              "ncclRecv");
    }
  }

  const Program& program_;
  const Expected& expected_;
  const Identifiers& identifiers_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::size_t step_ = 0;
  std::string problem_;
};

}  // namespace

std::vector<std::size_t> steps_with_identifiers(const Program& program) {
  std::vector<std::size_t> steps;
  for (std::size_t index = 0; index < program.steps.size(); ++index)
    if (needs_identifier(program.steps[index])) steps.push_back(index);
  return steps;
}

std::string play(const Program& program, const Expected& expected, const std::vector<int>& players,
                 const Identifiers& identifiers) {
  return Part(program, expected, identifiers).play(players);
}

}  // namespace tutti::programs
