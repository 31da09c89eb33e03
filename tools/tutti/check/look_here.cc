#include "base/text.h"
#include "os/machine.h"
#include "tools/tutti/check/host_report.h"
#include "tools/tutti/check/launchers.h"
#include "tools/tutti/check/limits.h"
#include "tools/tutti/check/machine.h"
#include "tools/tutti/check/network.h"
#include "tools/tutti/check/processes.h"
#include "tutti/version.h"

namespace tutti::tool::check {

namespace {

std::vector<Fact> facts_of(const Limits& limits, const Frameworks& frameworks) {
  const os::Machine& machine = os::this_machine();
  std::vector<Fact> facts = {
      {"tutti", TUTTI_VERSION},
      {"kernel", kernel_release()},
      {"machine", architecture()},
      {"cores", std::to_string(machine.usable_cores)},
      {"memory", text::bytes_text(machine.memory_bytes)},
      {"GPUs", text_of(find_gpus())},
      {"locked memory", bytes_limit_text(limits.locked_bytes)},
      {"open files", limit_text(limits.open_files)},
      {"/dev/shm", limits.shm_bytes ? text::bytes_text(*limits.shm_bytes) : "none"},
      {"Python", frameworks.python.empty() ? "none" : frameworks.python},
  };
  for (const Framework& framework : frameworks.all) {
    facts.push_back({framework.name, framework.version.empty() ? "none" : framework.version});
  }
  return facts;
}

}  // namespace

HostReport look_here() {
  HostReport report{.host = os::this_machine().host, .version = TUTTI_VERSION, .frameworks = find_frameworks()};
  const Limits limits = limits_here();
  report.facts = facts_of(limits, report.frameworks);
  auto& findings = report.findings;
  for (const auto& find : {find_build, find_settings, find_instructions, find_cores, find_caches, find_devices}) {
    findings.push_back(find());
  }
  findings.push_back(finding_of(report.frameworks));
  for (const auto& find :
       {find_ssh, find_slurm, find_mpi, find_transports, find_interfaces, find_reach, find_carrier}) {
    findings.push_back(find());
  }
  for (const auto& find :
       {find_locked_memory, find_open_files, find_processes_limit, find_shm, find_control_group, find_overcommit}) {
    findings.push_back(find(limits));
  }
  findings.push_back(find_clock(clock_state()));
  // The heap comes last: who is forked from a process with one cannot have its own.
  for (const auto& find : {find_futex, find_pulling, find_meeting, find_heap}) findings.push_back(find());
  return report;
}

}  // namespace tutti::tool::check
