// Starts the programs of examples/nccl, by themselves or by the launcher of an MPI, and waits for them with a limit.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "os/clock.h"
#include "tests/network/lab/lab.h"
#include "tests/network/lab/process.h"

namespace tutti::programs {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

inline constexpr std::chrono::seconds kLimit(60);
inline constexpr std::chrono::seconds kGrace(10);       // for a launcher to end what it has started
inline constexpr std::chrono::milliseconds kLook(100);  // between looks at what a program has said

// Instead of an exit code, for what had to be ended: at the limit, or some time after its last words.
inline constexpr int kOvertime = -1;
inline constexpr int kSpoken = -2;

struct Ending {
  int exit_code = kOvertime;
  std::string output;  // stdout and stderr together
};

inline std::string program_path(const std::string& name) {
  return std::string(TUTTI_PROGRAMS) + "/example_nccl_" + name;
}

// What a program is started with besides its words.
struct Circumstances {
  pid_t keeper = lab::kThisMachine;  // of its host
  Environment environment = {};
  std::string last_words = {};  // after these it has kGrace to end; empty: kLimit is all it has
};

// A launcher that takes too long is asked to end before it is killed, since its processes are not in its group.
inline Ending launch(const Words& words, const Circumstances& circumstances) {
  auto process = lab::Process::start(circumstances.keeper, {.words = words, .environment = circumstances.environment});
  if (!process) return {kOvertime, std::string(process.status().text())};
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  const auto has_spoken = [&] {
    return !circumstances.last_words.empty() && process->output().find(circumstances.last_words) != std::string::npos;
  };
  std::optional<int> code;
  while (!code && !has_spoken() && !deadline.has_passed(os::now())) code = process->wait(kLook);
  if (!code && has_spoken()) code = process->wait(kGrace);
  if (code) return {*code, process->output()};
  const int instead = has_spoken() ? kSpoken : kOvertime;
  process->send(SIGTERM);
  process->wait(kGrace);
  return {instead, process->output()};
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
