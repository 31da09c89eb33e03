// elastic_rank STEPS: a rank of an elastic job. It forms a communicator for every world that it is part of, sums ones
// in a loop, and takes the number of steps done from rank 0 when a world begins, as a training program takes its
// weights. It prints a line for every world, "world 1: rank 0 of 2 at step 17, pid 4711", and one at its end.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "base/text.h"
#include "bootstrap/job_world.h"
#include "os/clock.h"
#include "os/environment.h"
#include "tutti/communicator.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 20ms;           // what a step computes
constexpr auto kPatience = 10min;      // for a new world; the launcher gives up before
constexpr auto kPeerTimeout = 5s;      // a rank that says nothing for so long is gone
constexpr auto kMeetingTimeout = 15s;  // of the ranks of a new world

void tell(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// Until all steps are done, there is a newer world, or the ranks cannot work together any more.
Status work(Communicator& ranks, bootstrap::Store& store, int generation, std::int64_t& step, std::int64_t step_count) {
  while (step < step_count) {
    // Whether a newer world is there is one decision of all, or some would wait for others that have left.
    std::array<std::int64_t, 2> sums = {1, 0};
    TUTTI_ASSIGN(const bool has_newer, bootstrap::has_newer_world(store, generation));
    sums[1] = has_newer ? 1 : 0;
    TUTTI_TRY(ranks.all_reduce(std::span<std::int64_t>(sums)));
    if (sums[0] != ranks.size()) return {Code::internal, fmt::format("a sum of {} ones is {}", ranks.size(), sums[0])};
    if (sums[1] > 0) return {};
    ++step;
    std::this_thread::sleep_for(kStep);
  }
  return {};
}

Status run_in(const bootstrap::JobWorld& world, Rank rank, bootstrap::Store& store, std::int64_t& step,
              std::int64_t step_count) {
  TUTTI_ASSIGN(auto ranks, Communicator::create({.rank = rank,
                                                 .size = world.size(),
                                                 .store = world.store,
                                                 .start_timeout = kMeetingTimeout,
                                                 .timeout = kPeerTimeout}));
  TUTTI_TRY(ranks.broadcast(std::span<std::int64_t>(&step, 1), 0));
  tell(fmt::format("world {}: rank {} of {} at step {}, pid {}", world.generation, rank, world.size(), step,
                   ::getpid()));
  return work(ranks, store, world.generation, step, step_count);
}

Status run(std::int64_t step_count) {
  TUTTI_ASSIGN(const auto place, bootstrap::worker_place_of(os::environment_variable));
  if (!place) return {Code::invalid_usage, "start it with 'tutti run --min-np N'"};
  TUTTI_ASSIGN(const auto store, bootstrap::open_store(place->store, 1, Deadline::after(os::now(), 1min)));
  std::int64_t step = 0;
  int generation = -1;  // in none yet
  while (step < step_count) {
    TUTTI_ASSIGN(const auto world,
                 await_world(*store, place->worker, generation, Deadline::after(os::now(), kPatience)));
    generation = world.generation;
    const Rank rank = world.rank_of(place->worker);
    if (rank == kNoRank) {
      tell(fmt::format("worker {} is not part of world {}", place->worker, generation));
      return {};
    }
    const Status status = run_in(world, rank, *store, step, step_count);
    if (status) continue;
    tell(fmt::format("world {}: {}", generation, status.text()));
    TUTTI_TRY(report_failure(*store, generation));
  }
  tell(fmt::format("done after {} steps", step));
  return {};
}

}  // namespace
}  // namespace tutti

int main(int count, char** words) {
  const auto steps = count == 2 ? tutti::text::integer_of<std::int64_t>(words[1]) : std::nullopt;
  if (!steps) {
    fmt::print(stderr, "usage: elastic_rank STEPS\n");
    return 2;
  }
  const tutti::Status status = tutti::run(*steps);
  if (status) return 0;
  fmt::print(stderr, "elastic_rank: {}\n", status.text());
  return 1;
}
