#include "comm/start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "bootstrap/exchange.h"
#include "bootstrap/store.h"
#include "comm/measure.h"
#include "comm/room.h"
#include "device/host/heap.h"
#include "os/clock.h"
#include "os/machine.h"
#include "transport/shm/mesh.h"

namespace tutti::comm {

namespace {

constexpr Rank kRanksMax = 1024;

// What a rank tells the others beside how to find its process.
struct Introduction {
  std::uint64_t memory_at = 0;  // in its heap
  LocalRates rates;             // rank 0's count
};
static_assert(std::is_trivially_copyable_v<Introduction>);

Status validate(const CommunicatorOptions& options) {
  if (options.size < 1 || options.size > kRanksMax) {
    return invalid_argument(
        fmt::format("a communicator of {} ranks is not possible; 1 to {} are", options.size, kRanksMax));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return invalid_argument(fmt::format("rank {} is not one of {} ranks", options.rank, options.size));
  }
  if (options.timeout.count() <= 0 || options.start_timeout.count() <= 0) {
    return invalid_argument("timeout and start_timeout must be longer than nothing");
  }
  if (!options.algorithm.empty()) {
    const auto algorithms = plan::algorithms();
    const bool is_known = std::any_of(algorithms.begin(), algorithms.end(),
                                      [&](const auto& known) { return known.name == options.algorithm; });
    if (!is_known) {
      return invalid_argument(
          fmt::format("no algorithm is called '{}'; 'tutti plan list' names them", options.algorithm));
    }
  }
  return {};
}

planner::LocalMachine machine_of(const LocalRates& rates, Rank ranks, bool can_pull) {
  planner::LocalMachine machine = with_rates(rates);
  machine.ranks = ranks;
  machine.can_pull = can_pull;
  if (ranks > 1) machine.flash_bytes = transport::kFlashBytesMax;
  return machine;
}

transport::Member member_of(Rank rank, std::shared_ptr<const transport::Process> process) {
  transport::Member member{.rank = rank,
                           .pid = process->pid(),
                           .host = process->host(),
                           .is_same_process = process->is_self(),
                           .can_pull = process->can_pull(),
                           .heap = process->heap(),
                           .heap_bytes = process->heap_bytes(),
                           .is_alive = {}};
  member.is_alive = [process = std::move(process)] { return process->is_alive(); };
  return member;
}

bool can_all_pull(const std::vector<transport::Member>& members) {
  return std::all_of(members.begin(), members.end(),
                     [](const auto& member) { return member.is_same_process || member.can_pull; });
}

void say(std::string_view text) { fmt::print(stderr, "tutti: {}\n", text); }

struct Met {
  std::vector<std::shared_ptr<const transport::Process>> processes;
  std::vector<Introduction> introductions;
};

Result<Met> meet(const CommunicatorOptions& options, const Introduction& mine, Deadline deadline) {
  TUTTI_ASSIGN(transport::Mesh* const mesh, transport::Mesh::of_process());
  TUTTI_ASSIGN(const auto store, bootstrap::open_store(options.store, options.rank, deadline));
  std::vector<std::byte> message(sizeof(Introduction));
  std::memcpy(message.data(), &mine, sizeof(mine));
  const auto card = mesh->card();
  message.insert(message.end(), card.begin(), card.end());
  auto all = bootstrap::exchange(*store, "ranks", options.rank, options.size, message, deadline, say);
  const Status left = bootstrap::leave(*store, options.size);
  if (!all) return all.status();
  TUTTI_TRY(left);
  Met met;
  std::vector<std::vector<std::byte>> cards;
  for (const auto& bytes : *all) {
    if (bytes.size() < sizeof(Introduction)) {
      return Status(Code::invalid_usage, fmt::format("rank {} introduces itself in {} bytes; is it of another version?",
                                                     cards.size(), bytes.size()));
    }
    std::memcpy(&met.introductions.emplace_back(), bytes.data(), sizeof(Introduction));
    cards.emplace_back(bytes.begin() + sizeof(Introduction), bytes.end());
  }
  TUTTI_ASSIGN(met.processes, mesh->connect(cards, deadline));
  return met;
}

// Nobody's word is enough to write outside its heap.
Status validate(const Introduction& introduction, const transport::Process& process, std::size_t bytes, Rank rank) {
  if (introduction.memory_at % transport::kLine == 0 && bytes <= process.heap_bytes() &&
      introduction.memory_at <= process.heap_bytes() - bytes) {
    return {};
  }
  return Status(
      Code::invalid_usage,
      fmt::format("rank {} (pid {}) names memory outside its heap; is it of another version?", rank, process.pid()));
}

transport::Member this_process(Rank rank) {
  return {.rank = rank,
          .pid = static_cast<int>(getpid()),
          .host = os::this_machine().host,
          .is_same_process = true,
          .is_alive = [] { return true; }};
}

}  // namespace

Result<std::unique_ptr<Side>> start(const CommunicatorOptions& options) {
  TUTTI_TRY(validate(options));
  if (options.size == 1) {
    TUTTI_ASSIGN(auto sides, start_local(1, options));
    return std::move(sides[0]);
  }
  if (options.store.empty()) {
    return invalid_argument(fmt::format("{} ranks need a store to meet through, such as file:/path", options.size));
  }
  const Deadline deadline = Deadline::after(os::now(), options.start_timeout);
  const std::size_t bytes = SideLayout(options.size).bytes();
  Membership membership;
  membership.rank = options.rank;
  TUTTI_ASSIGN(membership.own, make_shared_room(bytes));
  Introduction mine;
  mine.memory_at = *device::Heap::existing()->offset_of(membership.own.get(), bytes);
  if (options.rank == 0) mine.rates = measure_rates();
  auto met = meet(options, mine, deadline);
  if (!met) return met.status().while_doing(fmt::format("starting rank {} of {}", options.rank, options.size));
  for (Rank rank = 0; rank < options.size; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const auto& process = met->processes[index];
    TUTTI_TRY(validate(met->introductions[index], *process, bytes, rank));
    membership.memories.push_back(process->heap() + met->introductions[index].memory_at);
    membership.peers.push_back(member_of(rank, process));
  }
  membership.machine = machine_of(met->introductions[0].rates, options.size, can_all_pull(membership.peers));
  return std::make_unique<Side>(std::move(membership), options);
}

Result<std::vector<std::unique_ptr<Side>>> start_local(Rank size, const CommunicatorOptions& options) {
  CommunicatorOptions each = options;
  each.size = size;
  each.rank = 0;
  TUTTI_TRY(validate(each));
  std::vector<std::shared_ptr<std::byte>> rooms;
  std::vector<std::byte*> memories;
  std::vector<transport::Member> members;
  for (Rank rank = 0; rank < size; ++rank) {
    TUTTI_ASSIGN(rooms.emplace_back(), make_private_room(SideLayout(size).bytes()));
    memories.push_back(rooms.back().get());
    members.push_back(this_process(rank));
  }
  const LocalRates rates = size > 1 ? measure_rates() : LocalRates{};
  std::vector<std::unique_ptr<Side>> sides;
  for (Rank rank = 0; rank < size; ++rank) {
    each.rank = rank;
    Membership membership{.rank = rank,
                          .peers = members,
                          .memories = memories,
                          .machine = machine_of(rates, size, false),
                          .own = rooms[static_cast<std::size_t>(rank)]};
    sides.push_back(std::make_unique<Side>(std::move(membership), each));
  }
  return sides;
}

}  // namespace tutti::comm
