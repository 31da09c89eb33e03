// Starts the programs of examples/nccl, by themselves or by the launcher of an MPI, and waits for them with a limit.
#pragma once

#include <fmt/format.h>

#include <string>

#include "tests/network/lab/lab.h"
#include "tests/network/lab/launch.h"

namespace tutti::programs {

using lab::Circumstances;
using lab::Ending;
using lab::Environment;
using lab::kGrace;
using lab::kLimit;
using lab::kOvertime;
using lab::kSpoken;
using lab::launch;
using lab::Words;

inline std::string program_path(const std::string& name) {
  return std::string(TUTTI_PROGRAMS) + "/example_nccl_" + name;
}

inline Ending launch_here(const Words& words, const Environment& environment = {}) {
  return launch(words, {.environment = environment});
}

// How many processes, and on which hosts of a lab; none: on this machine.
struct Places {
  int processes = 1;
  const lab::Lab* lab = nullptr;
};

// "host0:2,host1:2"
inline std::string slots_of(const Places& places) {
  std::string slots;
  for (int host = 0; host < places.lab->host_count(); ++host) {
    slots += fmt::format("{}{}:{}", host == 0 ? "" : ",", lab::Lab::host_name(host),
                         places.processes / places.lab->host_count());
  }
  return slots;
}

// Launchers reach other hosts through lab_shell, which reads TUTTI_LAB.
inline Environment lab_environment(const lab::Lab& lab) {
  std::string keepers;
  for (int host = 0; host < lab.host_count(); ++host) {
    keepers += (host == 0 ? "" : ",") + std::to_string(lab.keeper(host));
  }
  return {{"TUTTI_LAB", keepers}};
}

inline Words openmpi_launcher(const Places& places, const Environment& environment) {
  Words words = {"mpirun.openmpi",
                 "--allow-run-as-root",
                 "--oversubscribe",
                 "--bind-to",
                 "none",
                 "-np",
                 std::to_string(places.processes)};
  for (const auto& [name, value] : environment) words.insert(words.end(), {"-x", name});
  if (places.lab == nullptr) return words;
  const std::string shell = std::string(TUTTI_PROGRAMS) + "/lab_shell";
  words.insert(words.end(), {"--host", slots_of(places), "--mca", "plm_rsh_agent", shell, "--mca", "btl_tcp_if_include",
                             lab::Lab::subnet(0), "--mca", "oob_tcp_if_include", lab::Lab::subnet(0)});
  return words;
}

inline Words mpich_launcher(const Places& places) {
  Words words = {"mpiexec.mpich"};
  if (places.lab != nullptr) {
    const std::string shell = std::string(TUTTI_PROGRAMS) + "/lab_shell";
    words.insert(words.end(), {"-launcher", "ssh", "-launcher-exec", shell, "-hosts", slots_of(places)});
  }
  words.insert(words.end(), {"-np", std::to_string(places.processes)});
  return words;
}

// As a user of this MPI would, from the first of the hosts. MPICH 4.0, Debian 12's, can wait for ever in MPI_Finalize
// where its processes are on several hosts: some stand in a barrier of the launcher while others wait for their answers
// (https://github.com/pmodels/mpich/pull/6596). What is tested here is over by then, so that the last words will do.
inline Ending launch_mpi(const std::string& mpi, const Places& places, const Words& program,
                         Environment environment = {}) {
  Words words = mpi == "openmpi" ? openmpi_launcher(places, environment) : mpich_launcher(places);
  words.insert(words.end(), program.begin(), program.end());
  if (places.lab == nullptr) return launch_here(words, environment);
  environment.merge(lab_environment(*places.lab));
  environment.insert({"UCX_TLS", "tcp,self"});  // the hosts of a lab have one processor and seem one machine to UCX
  Circumstances circumstances{.keeper = places.lab->keeper(0), .environment = environment};
  if (mpi == "mpich") circumstances.last_words = "all sums are right\n";
  Ending ending = launch(words, circumstances);
  if (ending.exit_code == kSpoken) ending.exit_code = 0;
  return ending;
}

}  // namespace tutti::programs
