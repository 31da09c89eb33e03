// A small Slurm on the hosts of a lab: one munged, a controller, and a daemon on each host, with all their files in a
// folder that ends with it. Nothing of the machine's own Slurm is read or changed.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "os/clock.h"
#include "os/entropy.h"
#include "tests/nccl/launch.h"
#include "tests/network/lab/lab.h"

namespace tutti::programs {

class Slurm {
 public:
  // Why this machine has none: a package or a permission is missing.
  static Status is_possible() {
    TUTTI_TRY(lab::Lab::is_possible());
    for (const char* program : {"slurmctld", "slurmd", "srun", "munged"}) {
      const auto answer =
          lab::run_program(lab::kThisMachine, {.words = {"sh", "-c", std::string("command -v ") + program}}, kLimit);
      if (!answer) {
        return {Code::unsupported,
                fmt::format("there is no {} (Debian: slurmctld slurmd slurm-client munge)", program)};
      }
    }
    return {};
  }

  static Result<std::unique_ptr<Slurm>> create(int host_count) {
    TUTTI_ASSIGN(auto lab, lab::Lab::create({.host_count = host_count}));
    std::unique_ptr<Slurm> slurm(new Slurm(std::move(lab)));
    TUTTI_TRY(slurm->write_files());
    TUTTI_TRY(slurm->start_daemons());
    TUTTI_TRY(slurm->await_hosts());
    return slurm;
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;
  ~Slurm() {
    daemons_.clear();
    lab_.clear(std::chrono::seconds(0));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Ending run(const Words& words, const std::string& last_words = "") const {
    return launch(words, {.keeper = lab_.keeper(0), .environment = environment(), .last_words = last_words});
  }

 private:
  explicit Slurm(lab::Lab lab) : lab_(std::move(lab)) {}

  Environment environment() const { return {{"SLURM_CONF", folder_ + "/slurm.conf"}}; }

  // In /tmp whatever TMPDIR is, because the names of sockets must be short.
  Status write_files() {
    char folder[] = "/tmp/tutti-slurm-XXXXXX";
    if (::mkdtemp(folder) == nullptr) return {Code::internal, "mkdtemp failed in /tmp"};
    folder_ = folder;
    namespace fs = std::filesystem;
    fs::permissions(folder_, fs::perms(0755));
    fs::create_directory(folder_ + "/state");
    for (int host = 0; host < lab_.host_count(); ++host) {
      fs::create_directory(fmt::format("{}/{}", folder_, lab::Lab::host_name(host)));
      fs::create_directory(fmt::format("{}/{}/tmp", folder_, lab::Lab::host_name(host)));
    }
    std::ofstream(folder_ + "/slurm.conf") << configuration();
    // Unused, but loaded all the same; that of version 2 refuses machines with both versions.
    std::ofstream(folder_ + "/cgroup.conf") << "CgroupPlugin=cgroup/v1\n";
    std::array<std::byte, 128> key{};
    TUTTI_TRY(os::fill_random(key));
    std::ofstream(folder_ + "/munge.key").write(reinterpret_cast<const char*>(key.data()), key.size());
    fs::permissions(folder_ + "/munge.key", fs::perms(0400));
    return {};
  }

  // Ports are the usual ones: the network is the lab's own. Processors and memory are declared, not real.
  std::string configuration() const {
    return fmt::format(R"(ClusterName=lab
SlurmctldHost=host0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={0}/munge.socket
CredType=cred/munge
StateSaveLocation={0}/state
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/%n/slurmd.pid
SlurmdSpoolDir={0}/%n/spool
TmpFS={0}/%n/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=host[0-{1}] CPUs=8 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
)",
                       folder_, lab_.host_count() - 1);
  }

  Status start_daemons() {
    const auto start = [&](pid_t keeper, Words words) -> Status {
      TUTTI_ASSIGN(auto process, lab::Process::start(keeper, {.words = words, .environment = environment()}));
      daemons_.push_back(std::move(process));
      return {};
    };
    const auto file = [&](const char* name) { return folder_ + "/" + name; };
    TUTTI_TRY(start(lab::kThisMachine, {"munged", "--foreground", "--force", "--socket=" + file("munge.socket"),
                                        "--key-file=" + file("munge.key"), "--pid-file=" + file("munge.pid"),
                                        "--log-file=" + file("munge.log"), "--seed-file=" + file("munge.seed")}));
    TUTTI_TRY(start(lab_.keeper(0), {"slurmctld", "-D", "-i"}));
    for (int host = 0; host < lab_.host_count(); ++host) {
      TUTTI_TRY(start(lab_.keeper(host), {"slurmd", "-D", "-N", lab::Lab::host_name(host)}));
    }
    return {};
  }

  // Until every host is idle.
  Status await_hosts() const {
    const Deadline deadline = Deadline::after(os::now(), kLimit);
    std::string wanted;
    for (int host = 0; host < lab_.host_count(); ++host) wanted += "idle\n";
    std::string seen;
    while (!deadline.has_passed(os::now())) {
      seen = run({"sinfo", "-h", "-N", "-o", "%T"}).output;
      if (seen == wanted) return {};
    }
    std::string all = fmt::format("Slurm did not come up; sinfo says: {}", seen);
    for (const lab::Process& daemon : daemons_) all += "\n" + daemon.output();
    return {Code::timed_out, all};
  }

  lab::Lab lab_;
  std::string folder_;
  std::vector<lab::Process> daemons_;
};

}  // namespace tutti::programs
