// What one launcher says about this process: several may speak, as when mpirun runs inside a Slurm job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/env/launch.h"
#include "bootstrap/env/variables.h"

namespace tutti::bootstrap {

struct Claim {
  Launch launch;
  std::string evidence = {};              // "RANK=1 and WORLD_SIZE=4", for messages
  std::vector<std::string> names = {};    // of the variables that say so
  bool has_one_process_per_host = false;  // which may be that of another launcher
};

// nullopt: that launcher has not started this process, or not as a rank.
using ClaimReader = Result<std::optional<Claim>> (*)(const Variables& variables);
Result<std::optional<Claim>> tutti_claim(const Variables& variables);       // tutti run
Result<std::optional<Claim>> tensorflow_claim(const Variables& variables);  // TF_CONFIG
Result<std::optional<Claim>> torch_claim(const Variables& variables);  // torchrun, and others with RANK, WORLD_SIZE
Result<std::optional<Claim>> open_mpi_claim(const Variables& variables);
Result<std::optional<Claim>> pmi_claim(const Variables& variables);  // MPICH's mpirun, srun --mpi=pmi2
Result<std::optional<Claim>> slurm_claim(const Variables& variables);

// A port for a job, the same on every host, outside of those that systems give away by themselves and of those that
// programs are known for. `taken`: a port of the job that somebody else listens at.
std::uint16_t port_of(std::string_view job, std::uint16_t taken = 0);

// "name:port", with brackets around an address of IPv6.
std::string meeting_address(std::string_view host, std::uint16_t port);

}  // namespace tutti::bootstrap
