// How large a plan can be checked and simulated, and what that takes. Prints a table; a number from it goes into a
// document only with machine and commit. Run: bench_scale
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <variant>

#include "tutti/check.h"
#include "tutti/planner.h"

namespace {

using namespace tutti;
using plan::Collective;
using plan::Reach;

double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs one measurement in a process of its own, so that its peak memory is its own.
template <class Work>
void row(const std::string& name, Work work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const double begin = now_s();
    const std::string what = work();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print("{:<58} {:>8.2f} s {:>8.0f} MiB   {}\n", name, now_s() - begin,
               static_cast<double>(usage.ru_maxrss) / 1024, what);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) fmt::print("{:<58} failed\n", name);
}

std::string check_plan(const char* algorithm, Collective collective, Rank ranks, std::uint32_t lanes, Reach reach) {
  plan::Shape shape;
  shape.collective = collective;
  shape.ranks = ranks;
  shape.lanes = lanes;
  shape.reach = reach;
  const auto plan = plan::build(*plan::find_algorithm(algorithm, collective), shape);
  if (!plan) return std::string(plan.status().text());
  const auto verdict = plan::check(*plan);
  if (const auto* fault = std::get_if<plan::Fault>(&verdict)) return fault->text();
  return fmt::format("{} steps proved", std::get<plan::Proof>(verdict).steps);
}

// Nodes of 8 devices on NVSwitch with a card each, in leaves of 32 under one spine of full bisection.
std::string fat_tree(int nodes) {
  const int leaves = nodes / 32;
  return fmt::format(
      "topology \"{} nodes of 8\"\nlaunch 25us\nstep 0.7us\nhost node[0-{}]\n  device gpu[0-7] memory=2680GB/s\n  "
      "switch nvswitch\n"
      "  nic mlx[0-7]\n  link gpu[0-7] nvswitch bandwidth=360GB/s latency=0.5us\n"
      "  link gpu[0-7] mlx[0-7] bandwidth=50GB/s latency=0.5us\nnetwork\n  switch leaf[0-{}]\n  switch spine\n"
      "  link node[0-{}] leaf[0-{}] bandwidth=50GB/s latency=0.75us\n  link leaf[0-{}] spine bandwidth=12800GB/s "
      "latency=0.3us\n",
      nodes, nodes - 1, leaves - 1, nodes - 1, leaves - 1, leaves - 1);
}

std::string simulate_plan(const char* algorithm, int nodes, std::uint64_t bytes) {
  const auto topology = topology::parse(fat_tree(nodes));
  if (!topology) return std::string(topology.status().text());
  plan::Shape shape;
  shape.ranks = static_cast<Rank>(topology->device_count());
  shape.reach = Reach::full;
  for (const topology::Place& place : topology::places(*topology)) shape.host_of.push_back(place.host);
  const auto plan = plan::build(*plan::find_algorithm(algorithm, Collective::all_reduce), shape);
  if (!plan) return std::string(plan.status().text());
  const auto model = planner::create_model(*topology);
  const auto timeline = plan::simulate(
      *plan, *model, {.elements = bytes / 4, .element_bytes = 4, .tile_bytes = 1 << 20, .record_spans = false});
  if (!timeline) return std::string(timeline.status().text());
  return fmt::format("{} steps, {} events, {:.3g} ms of virtual time", plan->step_count(), timeline->events,
                     timeline->total_s * 1e3);
}

}  // namespace

int main() {
  fmt::print("{:<58} {:>10} {:>12}\n", "what", "time", "peak memory");
  row("check ring all_reduce, 256 ranks",
      [] { return check_plan("ring", Collective::all_reduce, 256, 1, Reach::none); });
  row("check ring all_reduce, 256 ranks, 4 lanes",
      [] { return check_plan("ring", Collective::all_reduce, 256, 4, Reach::none); });
  row("check direct all_reduce, 256 ranks",
      [] { return check_plan("direct", Collective::all_reduce, 256, 1, Reach::full); });
  row("check tree all_reduce, 256 ranks, 4 lanes",
      [] { return check_plan("tree", Collective::all_reduce, 256, 4, Reach::none); });
  row("check pairwise all_to_all, 256 ranks",
      [] { return check_plan("pairwise", Collective::all_to_all, 256, 1, Reach::none); });
  row("check bruck all_to_all, 256 ranks",
      [] { return check_plan("bruck", Collective::all_to_all, 256, 1, Reach::none); });
  row("simulate hierarchical_halving all_reduce 1 GiB, 4,096 ranks",
      [] { return simulate_plan("hierarchical_halving", 512, 1 << 30); });
  row("simulate hierarchical_tree all_reduce 1 GiB, 4,096 ranks",
      [] { return simulate_plan("hierarchical_tree", 512, 1 << 30); });
  row("simulate hierarchical_ring all_reduce 1 GiB, 4,096 ranks",
      [] { return simulate_plan("hierarchical_ring", 512, 1 << 30); });
  row("simulate hierarchical_halving all_reduce 1 GiB, 65,536 ranks",
      [] { return simulate_plan("hierarchical_halving", 8192, 1 << 30); });
  row("simulate hierarchical_tree all_reduce 64 MiB, 65,536 ranks",
      [] { return simulate_plan("hierarchical_tree", 8192, 64 << 20); });
}
