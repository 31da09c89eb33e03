// Launchers that state a process's place in four plain variables.
#include <fmt/format.h>

#include <limits>

#include "bootstrap/env/claim.h"
#include "bootstrap/env/job_number.h"

namespace tutti::bootstrap {
namespace {

// Systems give away 32768 and above (Linux) or 49152 and above; PyTorch's own is 29500.
constexpr std::uint16_t kFirstPort = 12000;
constexpr std::uint16_t kPortCount = 17000;

struct Names {
  std::string_view launcher;
  std::string_view rank;
  std::string_view size;
  std::string_view local_rank;  // empty: nothing is said about the host
  std::string_view local_size;
};

constexpr Names kTutti = {"tutti run", "TUTTI_RANK", "TUTTI_SIZE", "TUTTI_LOCAL_RANK", "TUTTI_LOCAL_SIZE"};
constexpr Names kOpenMpi = {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kPmi = {"MPICH's mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr Names kTorch = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};

struct Place {
  Rank rank;
  Rank size;
};

// A rank and a size that belong together, or neither.
Result<std::optional<Place>> place_of(const Variables& variables, std::string_view rank_name,
                                      std::string_view size_name) {
  if (rank_name.empty()) return std::optional<Place>();
  TUTTI_ASSIGN(const std::optional<Rank> rank, variables.number(rank_name));
  TUTTI_ASSIGN(const std::optional<Rank> size, variables.number(size_name));
  if (!rank && !size) return std::optional<Place>();
  if (!rank || !size) {
    const std::string_view there = rank ? rank_name : size_name;
    return invalid_argument(fmt::format("{} is set without {}; set both, or take it away with 'env -u {}'",
                                        assignment_text(there, *variables.text(there)), rank ? size_name : rank_name,
                                        there));
  }
  if (*rank < *size) return std::optional(Place{*rank, *size});
  return invalid_argument(
      fmt::format("{}={} and {}={} make no sense together: ranks go from 0 to one less than the "
                  "size; correct them, or take both away with 'env -u {} -u {}'",
                  rank_name, *rank, size_name, *size, rank_name, size_name));
}

Result<std::optional<Claim>> claim_of(const Variables& variables, const Names& names) {
  TUTTI_ASSIGN(const auto place, place_of(variables, names.rank, names.size));
  if (!place) return std::optional<Claim>();
  TUTTI_ASSIGN(const auto local, place_of(variables, names.local_rank, names.local_size));
  if (local && local->size > place->size) {
    return invalid_argument(fmt::format("{}={} is more than {}={}: a host cannot have more processes than the job",
                                        names.local_size, local->size, names.size, place->size));
  }
  Claim claim;
  claim.launch.launcher = names.launcher;
  claim.launch.rank = place->rank;
  claim.launch.size = place->size;
  if (local) {
    claim.launch.has_local_place = true;
    claim.launch.local_rank = local->rank;
    claim.launch.local_size = local->size;
    claim.has_one_process_per_host = local->size == 1;
  }
  claim.evidence = fmt::format("{}={} and {}={}", names.rank, place->rank, names.size, place->size);
  claim.names = {std::string(names.rank), std::string(names.size)};
  return std::optional(std::move(claim));
}

}  // namespace

std::uint16_t port_of(std::string_view job, std::uint16_t taken) {
  const auto port = static_cast<std::uint16_t>(kFirstPort + job_number_of(job) % kPortCount);
  return port == taken ? static_cast<std::uint16_t>(port + 1) : port;
}

std::string meeting_address(std::string_view host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<std::optional<Claim>> tutti_claim(const Variables& variables) { return claim_of(variables, kTutti); }

Result<std::optional<Claim>> torch_claim(const Variables& variables) {
  // LOCAL_RANK is often exported without its size, by scripts that only choose a device.
  Names names = kTorch;
  if (!variables.has(names.local_rank) || !variables.has(names.local_size)) names.local_rank = names.local_size = "";
  TUTTI_ASSIGN(auto claim, claim_of(variables, names));
  if (!claim) return claim;
  const auto run = variables.text("TORCHELASTIC_RUN_ID");
  if (!run) claim->launch.launcher = "RANK and WORLD_SIZE";
  const auto host = variables.text("MASTER_ADDR");
  TUTTI_ASSIGN(const auto port, variables.number("MASTER_PORT"));
  if (!port && !run) return claim;
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    return invalid_argument(fmt::format("MASTER_PORT={} is no port; there are 1 to 65535", *port));
  }
  claim->launch.job = fmt::format("torch-{}-{}-{}", run.value_or(""), host.value_or(""), port.value_or(0));
  // Somebody listens at MASTER_PORT itself: torchrun, or PyTorch in rank 0.
  if (host) {
    const std::uint16_t own = port_of(claim->launch.job, static_cast<std::uint16_t>(port.value_or(0)));
    claim->launch.address = meeting_address(*host, own);
  }
  return claim;
}

Result<std::optional<Claim>> open_mpi_claim(const Variables& variables) {
  TUTTI_ASSIGN(auto claim, claim_of(variables, kOpenMpi));
  if (!claim) return claim;
  const auto name_space = variables.text("PMIX_NAMESPACE");
  const auto pmix_rank = variables.text("PMIX_RANK");
  // An outer srun's PMIx would be another job's.
  if (name_space && !name_space->starts_with("slurm.") && pmix_rank == std::to_string(claim->launch.rank)) {
    claim->launch.has_pmix = true;
    claim->launch.job = "openmpi-" + *name_space;
  } else if (const auto job = variables.text("OMPI_MCA_ess_base_jobid")) {
    claim->launch.job = "openmpi-" + *job;
  }
  return claim;
}

Result<std::optional<Claim>> pmi_claim(const Variables& variables) {
  if (const auto port = variables.text("PMI_PORT"); port && !variables.has("PMI_RANK") && !variables.has("PMI_SIZE")) {
    return Status(Code::unsupported,
                  fmt::format("{} leads to a launcher that would have to be asked for the rank, which is not done; "
                              "start mpiexec without -pmi-port",
                              assignment_text("PMI_PORT", *port)));
  }
  TUTTI_ASSIGN(auto claim, claim_of(variables, kPmi));
  if (!claim) return claim;
  if (!claim->launch.has_local_place) claim->launch.launcher = "PMI";
  TUTTI_ASSIGN(const auto descriptor, variables.number("PMI_FD"));
  claim->launch.pmi_descriptor = descriptor.value_or(-1);
  return claim;
}

}  // namespace tutti::bootstrap
