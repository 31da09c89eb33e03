#include "bench/comparison/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/comparison/words.h"
#include "tests/network/lab/lab.h"

namespace tutti::bench {

namespace {

using lab::Lab;

constexpr std::uint64_t kSyncBytesMax = 4 << 20;

enum class When { always, thorough };

// "cubic": the congestion control of TCP; where the machine has bbr, it is up to 1.5 times faster between virtual
// hosts. "yield", "ucx", "m" and the algorithms are those of contenders.cc, "han" is the hierarchical collectives.
void add_open_mpi(std::vector<Contender>& contenders) {
  const Words yield = parameter("mpi_yield_when_idle", "1");
  const auto add = [&](const char* name, std::initializer_list<Words> launcher, const char* congestion_control,
                       When when, bool is_for_all_reduce = false) {
    contenders.push_back({.name = name,
                          .library = "openmpi",
                          .launcher = joined(launcher),
                          .environment = keep_memory(),
                          .is_thorough = when == When::thorough,
                          .is_for_all_reduce = is_for_all_reduce,
                          .congestion_control = congestion_control});
  };
  contenders.push_back({.name = "openmpi", .library = "openmpi"});
  add("openmpi-yield-m-cubic", {yield}, "cubic", When::always);
  add("openmpi-ucx-yield-m-cubic", {ucx_words(), yield}, "cubic", When::always);
  add("openmpi-m-cubic", {}, "cubic", When::thorough);
  add("openmpi-yield-m", {yield}, "", When::thorough);
  add("openmpi-ucx-yield-m", {ucx_words(), yield}, "", When::thorough);
  add("openmpi-han-yield-m-cubic", {parameter("coll_han_priority", "100"), yield}, "cubic", When::thorough);
  add("openmpi-ring-yield-m-cubic", {all_reduce_algorithm("4"), yield}, "cubic", When::thorough, true);
  add("openmpi-raben-yield-m-cubic", {all_reduce_algorithm("6"), yield}, "cubic", When::thorough, true);
}

Contender gloo(const char* name, Words arguments, const char* congestion_control) {
  return {.name = name, .library = "gloo", .arguments = std::move(arguments), .congestion_control = congestion_control};
}

Words on_host(const std::string& folder, int host) { return {folder + "/lab_shell", "--exec", Lab::host_name(host)}; }

// "host0:2,host1:2"
std::string slots_of(const Network& network, Rank ranks) {
  std::vector<std::string> words;
  for (int host = 0; host < network.host_count; ++host) {
    words.push_back(fmt::format("{}:{}", Lab::host_name(host), ranks / network.host_count));
  }
  return fmt::format("{}", fmt::join(words, ","));
}

std::string subnets_of(const Network& network) {
  std::vector<std::string> words;
  for (int rail = 0; rail < network.rail_count; ++rail) words.push_back(Lab::subnet(rail));
  return fmt::format("{}", fmt::join(words, ","));
}

// UCX uses one or two rails unless it is told.
std::map<std::string, std::string> ucx_environment(const Contender& contender, const Network& network) {
  std::map<std::string, std::string> environment = contender.environment;
  const std::string rails = std::to_string(network.rail_count);
  environment.insert({{"UCX_MAX_RNDV_RAILS", rails}, {"UCX_MAX_EAGER_RAILS", rails}});
  return environment;
}

// Both hosts share the same cores, so that binding would put two ranks on one and leave others idle.
Command open_mpi_command(const Contender& contender, const Network& network, const std::string& folder,
                         const Words& slots, const Words& program) {
  Command command{.words = {}, .environment = ucx_environment(contender, network)};
  Words launcher = {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"};
  for (const auto& [name, value] : command.environment) launcher.insert(launcher.end(), {"-x", name});
  command.words = joined({on_host(folder, 0), launcher, slots, parameter("plm_rsh_agent", folder + "/lab_shell"),
                          parameter("btl_tcp_if_include", subnets_of(network)),
                          parameter("oob_tcp_if_include", Lab::subnet(0)), contender.launcher, program});
  return command;
}

Command mpich_command(const Contender& contender, const Network& network, const std::string& folder, const Words& slots,
                      const Words& program) {
  Command command{.words = joined({on_host(folder, 0),
                                   {"mpirun.mpich", "-launcher", "ssh", "-launcher-exec", folder + "/lab_shell"},
                                   slots,
                                   contender.launcher,
                                   program}),
                  .environment = ucx_environment(contender, network)};
  command.environment.insert({"UCX_TLS", "tcp,self"});  // memory inside a host is MPICH's own
  return command;
}

}  // namespace

std::vector<Contender> contenders_across_hosts() {
  std::vector<Contender> contenders;
  add_open_mpi(contenders);
  contenders.push_back({.name = "mpich", .library = "mpich"});
  contenders.push_back({.name = "mpich-m-cubic",
                        .library = "mpich",
                        .environment = keep_memory(),
                        .ranks = {2},
                        .congestion_control = "cubic"});
  contenders.push_back(gloo("gloo-ring", {"algorithm=ring"}, ""));
  contenders.push_back(gloo("gloo-hd-cubic", {"algorithm=halving_doubling"}, "cubic"));
  contenders.back().is_for_all_reduce = true;
  contenders.push_back(gloo("gloo-hd-sync-cubic", {"algorithm=halving_doubling", "waiting=sync"}, "cubic"));
  contenders.back().is_for_all_reduce = true;
  contenders.back().bytes_max = kSyncBytesMax;
  if (kTuttiCrossesHosts) {
    contenders.push_back({.name = std::string(kTuttiMalloc), .library = "tutti", .arguments = {"buffers=malloc"}});
    contenders.push_back(
        {.name = std::string(kTuttiAllocated), .library = "tutti", .arguments = {"buffers=allocated"}});
  }
  return contenders;
}

std::vector<Command> commands_across_hosts(const Contender& contender, const Request& request, const Network& network,
                                           const std::string& folder, const std::string& store) {
  const Words program = joined({{folder + "/bench_peer_" + contender.library}, words_of(request), contender.arguments});
  const std::string ranks = std::to_string(request.ranks);
  const std::string slots = slots_of(network, request.ranks);
  if (contender.library == "openmpi") {
    return {open_mpi_command(contender, network, folder, {"-np", ranks, "--host", slots}, program)};
  }
  if (contender.library == "mpich") {
    return {mpich_command(contender, network, folder, {"-hosts", slots, "-np", ranks}, program)};
  }
  std::vector<Command> commands;
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    const int host = rank / (request.ranks / network.host_count);
    Words place = {fmt::format("rank={}", rank), "ranks=" + ranks, "address=" + Lab::address(host, 0)};
    place.push_back(contender.library == "gloo" ? "store=" + store
                    : rank == 0                 ? "identifier_out=" + store
                                                : "identifier_in=" + store);
    commands.push_back({joined({on_host(folder, host), program, place}), contender.environment});
  }
  return commands;
}

}  // namespace tutti::bench
