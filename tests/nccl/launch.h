// Starts the programs of examples/nccl, by themselves or by the launcher of an MPI, and waits for them with a limit.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "tests/network/lab/lab.h"
#include "tests/network/lab/process.h"

namespace tutti::programs {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

inline constexpr std::chrono::seconds kLimit(60);
inline constexpr std::chrono::seconds kGrace(10);  // for a launcher to end what it has started

struct Ending {
  int exit_code = -1;  // -1: it had to be ended
  std::string output;  // stdout and stderr together
};

inline std::string program_path(const std::string& name) {
  return std::string(TUTTI_PROGRAMS) + "/example_nccl_" + name;
}

// On the host that the keeper keeps. A launcher that takes too long is asked to end before it is killed, since its
// processes are not in its group.
inline Ending launch(pid_t keeper, const Words& words, const Environment& environment = {}) {
  auto process = lab::Process::start(keeper, {.words = words, .environment = environment});
  if (!process) return {-1, std::string(process.status().text())};
  const auto code = process->wait(kLimit);
  if (code) return {*code, process->output()};
  process->send(SIGTERM);
  process->wait(kGrace);
  return {-1, "its time was over; it had said: " + process->output()};
}

inline Ending launch_here(const Words& words, const Environment& environment = {}) {
  return launch(lab::kThisMachine, words, environment);
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

// As a user of this MPI would, from the first of the hosts.
inline Ending launch_mpi(const std::string& mpi, const Places& places, const Words& program,
                         Environment environment = {}) {
  Words words = mpi == "openmpi" ? openmpi_launcher(places, environment) : mpich_launcher(places);
  words.insert(words.end(), program.begin(), program.end());
  if (places.lab == nullptr) return launch_here(words, environment);
  environment.merge(lab_environment(*places.lab));
  environment.insert({"UCX_TLS", "tcp,self"});  // the hosts of a lab have one processor and seem one machine to UCX
  return launch(places.lab->keeper(0), words, environment);
}

}  // namespace tutti::programs
