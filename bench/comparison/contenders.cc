#include "bench/comparison/contenders.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/comparison/words.h"

namespace tutti::bench {

namespace {

// The settings are known to be the fastest of Open MPI somewhere on small machines. "nocma": staged through shared
// memory instead of reading the other process; "yield": gives the core away while it waits; "ucx": messages by UCX;
// "linear", "raben": one algorithm of all_reduce (Rabenseifner's) instead of the library's choice.
void add_open_mpi(std::vector<Contender>& contenders) {
  const Words free = {"--bind-to", "none"};
  const Words yield = parameter("mpi_yield_when_idle", "1");
  const Words nocma = parameter("btl_vader_single_copy_mechanism", "none");
  const Words ucx = ucx_words();
  const Words linear = all_reduce_algorithm("1");
  const Words raben = all_reduce_algorithm("6");
  enum class When { always, thorough };
  const auto add = [&](const char* name, std::initializer_list<Words> launcher, std::vector<Rank> ranks,
                       When when = When::always) {
    const bool has_algorithm = std::find(launcher.begin(), launcher.end(), linear) != launcher.end() ||
                               std::find(launcher.begin(), launcher.end(), raben) != launcher.end();
    contenders.push_back({.name = name,
                          .library = "openmpi",
                          .launcher = joined({free, joined(launcher)}),
                          .environment = keep_memory(),
                          .ranks = std::move(ranks),
                          .is_thorough = when == When::thorough,
                          .is_for_all_reduce = has_algorithm});
  };
  contenders.push_back({.name = "openmpi", .library = "openmpi"});
  add("openmpi-m", {}, {2});
  add("openmpi-nocma-m", {nocma}, {2});
  add("openmpi-ucx-m", {ucx}, {2});
  add("openmpi-yield-m", {yield}, {4, 8});
  add("openmpi-nocma-yield-m", {nocma, yield}, {4, 8});
  add("openmpi-ucx-yield-m", {ucx, yield}, {4, 8});
  add("openmpi-linear-yield-m", {linear, yield}, {4, 8});
  add("openmpi-ucx-linear-yield-m", {ucx, linear, yield}, {8});
  add("openmpi-nocma-raben-yield-m", {nocma, raben, yield}, {8});
  add("openmpi-yield-m", {yield}, {2}, When::thorough);
  add("openmpi-nocma-raben-m", {nocma, raben}, {2}, When::thorough);
  add("openmpi-ucx-raben-m", {ucx, raben}, {2}, When::thorough);
  add("openmpi-ucx-linear-yield-m", {ucx, linear, yield}, {4}, When::thorough);
  add("openmpi-nocma-raben-yield-m", {nocma, raben, yield}, {4}, When::thorough);
  add("openmpi-ucx-raben-yield-m", {ucx, raben, yield}, {4, 8}, When::thorough);
}

bool takes_part(const Contender& contender, Rank ranks) {
  return contender.ranks.empty() ||
         std::find(contender.ranks.begin(), contender.ranks.end(), ranks) != contender.ranks.end();
}

// The settings are written down for 2, 4 and 8 ranks; other counts use those of the nearest above, or the last.
Rank listed_ranks(Rank ranks) { return ranks <= 2 ? 2 : ranks <= 4 ? 4 : 8; }

}  // namespace

std::vector<Contender> all_contenders() {
  std::vector<Contender> contenders;
  add_open_mpi(contenders);
  contenders.push_back({.name = "mpich", .library = "mpich"});
  contenders.push_back({.name = "mpich-m", .library = "mpich", .environment = keep_memory(), .ranks = {2}});
  contenders.push_back({.name = "gloo-ring", .library = "gloo", .arguments = {"algorithm=ring"}});
  contenders.push_back(
      {.name = "gloo-hd", .library = "gloo", .arguments = {"algorithm=halving_doubling"}, .is_for_all_reduce = true});
  contenders.push_back({.name = std::string(kTuttiMalloc), .library = "tutti", .arguments = {"buffers=malloc"}});
  contenders.push_back({.name = std::string(kTuttiAllocated), .library = "tutti", .arguments = {"buffers=allocated"}});
  contenders.push_back({.name = std::string(kBound), .library = "bound", .is_for_all_reduce = true});
  return contenders;
}

std::vector<Contender> contenders_for(const std::vector<Contender>& contenders, Rank ranks,
                                      plan::Collective collective) {
  std::vector<Contender> chosen;
  std::copy_if(contenders.begin(), contenders.end(), std::back_inserter(chosen), [&](const Contender& contender) {
    if (contender.is_for_all_reduce && collective != plan::Collective::all_reduce) return false;
    return takes_part(contender, listed_ranks(ranks));
  });
  return chosen;
}

std::vector<Command> commands_of(const Contender& contender, const Request& request, const std::string& folder,
                                 const std::string& store) {
  const Words program = {folder + "/bench_peer_" + contender.library};
  const Words words = joined({program, words_of(request), contender.arguments});
  const std::string ranks = std::to_string(request.ranks);
  if (contender.library == "openmpi") {
    Words launcher = {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", ranks};
    for (const auto& [name, value] : contender.environment) launcher.insert(launcher.end(), {"-x", name});
    return {{joined({launcher, contender.launcher, words}), contender.environment}};
  }
  if (contender.library == "mpich") {
    return {{joined({{"mpirun.mpich", "-np", ranks}, contender.launcher, words}), contender.environment}};
  }
  std::vector<Command> commands;
  const Rank process_count = contender.library == "bound" ? 1 : request.ranks;
  for (Rank rank = 0; rank < process_count; ++rank) {
    const Words place = {fmt::format("rank={}", rank), "ranks=" + ranks, "store=" + store};
    commands.push_back({joined({words, place}), contender.environment});
  }
  return commands;
}

}  // namespace tutti::bench
