#include "bootstrap/env/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bootstrap/env/claim.h"

namespace tutti::bootstrap {
namespace {

// Launchers that start other launchers come after those.
constexpr std::array<ClaimReader, 6> kReaders = {tutti_claim,    tensorflow_claim, torch_claim,
                                                 open_mpi_claim, pmi_claim,        slurm_claim};

bool agree(const Claim& one, const Claim& other) {
  return one.launch.rank == other.launch.rank && one.launch.size == other.launch.size;
}

Status disagreement(const Claim& one, const Claim& other) {
  return invalid_argument(fmt::format(
      "two launchers disagree about this process: {} ({}), but {} ({}); start it by one of them, or take the other's "
      "variables away with 'env -u {}' or 'env -u {}'",
      one.evidence, one.launch.launcher, other.evidence, other.launch.launcher, fmt::join(one.names, " -u "),
      fmt::join(other.names, " -u ")));
}

// One process says nothing about its place that an only process would not: `srun -n1 mpirun -np 4`.
void drop_single_processes(std::vector<Claim>& claims) {
  if (std::ranges::none_of(claims, [](const Claim& claim) { return claim.launch.size > 1; })) return;
  std::erase_if(claims, [](const Claim& claim) { return claim.launch.size == 1; });
}

// One process on each host may be a launcher's own: mpirun inside a Slurm job starts its daemons so.
void drop_daemons(std::vector<Claim>& claims) {
  for (std::size_t index = claims.size(); index-- > 1;) {
    const Claim& outer = claims[index];
    const auto differs = [&](const Claim& inner) { return !agree(inner, outer); };
    const auto end = claims.begin() + static_cast<std::ptrdiff_t>(index);
    if (outer.has_one_process_per_host && std::any_of(claims.begin(), end, differs)) claims.erase(end);
  }
}

// The first that knows this process's place on its host, with what the others know beyond.
Launch join(const std::vector<Claim>& claims) {
  const auto knows = [](const Claim& claim) { return claim.launch.has_local_place; };
  const auto found = std::ranges::find_if(claims, knows);
  Launch launch = (found == claims.end() ? claims.front() : *found).launch;
  for (const Claim& claim : claims) {
    const Launch& other = claim.launch;
    if (launch.job.empty()) launch.job = other.job;
    if (launch.pmi_descriptor < 0) launch.pmi_descriptor = other.pmi_descriptor;
    launch.has_pmix = launch.has_pmix || other.has_pmix;
    if (launch.address.empty()) launch.address = other.address;
  }
  return launch;
}

}  // namespace

Result<std::optional<Launch>> launch_of(const Lookup& environment) {
  const Variables variables(environment);
  std::vector<Claim> claims;
  for (const ClaimReader read : kReaders) {
    TUTTI_ASSIGN(auto claim, read(variables));
    if (claim) claims.push_back(*std::move(claim));
  }
  if (claims.empty()) return std::optional<Launch>();
  drop_single_processes(claims);
  drop_daemons(claims);
  for (const Claim& other : claims) {
    if (!agree(claims.front(), other)) return disagreement(claims.front(), other);
  }
  Launch launch = join(claims);
  launch.store = variables.text("TUTTI_STORE").value_or("");
  return std::optional(std::move(launch));
}

}  // namespace tutti::bootstrap
