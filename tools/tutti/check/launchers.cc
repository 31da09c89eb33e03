#include "tools/tutti/check/launchers.h"

#include <fmt/format.h>

#include "launch/start/explanation.h"
#include "os/clock.h"
#include "os/environment.h"
#include "tools/tutti/check/program.h"

namespace tutti::tool::check {

namespace {

constexpr std::chrono::seconds kPatience{3};

// The first line of what it answers; programs disagree about the stream that a version goes to.
std::string version_of(const std::vector<std::string>& words) {
  const auto end = run_program(words, Deadline::after(os::now(), kPatience));
  if (!end) return std::string(end.status().text());
  if (end->is_late) return fmt::format("which has not answered within {} s", kPatience.count());
  if (end->end != os::ProcessEnd{}) return fmt::format("which fails: {}", launch::last_line(end->err));
  const std::string line = first_line(end->out.empty() ? end->err : end->out);
  return line.empty() ? "which says nothing of its version" : line;
}

}  // namespace

Finding find_ssh() {
  const std::string path = find_program("ssh");
  if (path.empty()) {
    return {State::slower, "ssh", "is not in PATH: no other host can be reached without Slurm",
            "install openssh-client"};
  }
  return {.what = "ssh", .text = fmt::format("{}, {}", path, version_of({path, "-V"}))};
}

Finding find_slurm() {
  const std::string path = find_program("srun");
  const auto job = os::environment_variable("SLURM_JOB_ID");
  if (path.empty()) {
    if (!job) return {.what = "Slurm", .text = "is not here"};
    return {State::missing, "Slurm", fmt::format("job {} is set, but srun is not in PATH", *job),
            "load the module of Slurm, or add its folder to PATH; or unset SLURM_JOB_ID"};
  }
  const std::string nodes = os::environment_variable("SLURM_JOB_NODELIST").value_or("unknown nodes");
  return {.what = "Slurm",
          .text = fmt::format("{}, {}; {}", path, version_of({path, "--version"}),
                              job ? fmt::format("inside job {} on {}", *job, nodes) : "outside of any allocation")};
}

Finding find_mpi() {
  const std::string path = find_program("mpirun");
  if (path.empty()) return {.what = "MPI", .text = "no mpirun, and none is needed"};
  return {.what = "MPI", .text = fmt::format("{}, {}; not needed", path, version_of({path, "--version"}))};
}

}  // namespace tutti::tool::check
