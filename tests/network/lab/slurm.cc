#include "tests/network/lab/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "os/clock.h"
#include "os/entropy.h"
#include "os/error_text.h"
#include "os/small_file.h"

namespace tutti::lab {

namespace {

constexpr int kNowhere = -1;  // a daemon of this machine
constexpr useconds_t kPollUs = 20'000;

// The value behind "JobState=" in what scontrol says.
std::string_view value_of(std::string_view said, std::string_view name) {
  const std::size_t at = said.find(fmt::format(" {}=", name));
  if (at == std::string_view::npos) return {};
  const std::string_view rest = said.substr(at + name.size() + 2);
  return rest.substr(0, rest.find(' '));
}

}  // namespace

Status Slurm::is_possible() {
  TUTTI_TRY(Lab::is_possible());
  for (const char* program : {"slurmctld", "slurmd", "srun", "munged"}) {
    if (has_program(program)) continue;
    return {Code::unsupported, fmt::format("there is no {} (Debian: slurmctld slurmd slurm-client munge)", program)};
  }
  return {};
}

Result<std::unique_ptr<Slurm>> Slurm::create(const SlurmOptions& options) {
  TUTTI_ASSIGN(Lab lab, Lab::create({.host_count = options.host_count}));
  TUTTI_ASSIGN(Folder folder, Folder::create());
  std::unique_ptr<Slurm> slurm(new Slurm(std::move(lab), std::move(folder), options));
  TUTTI_TRY(slurm->write_files());
  TUTTI_TRY(slurm->start_daemons());
  TUTTI_TRY(slurm->await_idle(kLimit));
  return slurm;
}

Slurm::~Slurm() {
  daemons_.clear();
  lab_.clear(std::chrono::seconds(0));
}

Environment Slurm::environment() const {
  const char* path = std::getenv("PATH");
  return {{"SLURM_CONF", folder_.file("slurm.conf")},
          {"PATH", fmt::format("{}/bin:{}:/usr/sbin:/sbin", folder_.path(), path == nullptr ? "/usr/bin:/bin" : path)}};
}

Ending Slurm::run(const Words& words, const std::string& last_words) const {
  return launch(
      words,
      {.keeper = lab_.keeper(0), .environment = environment(), .folder = folder_.path(), .last_words = last_words});
}

Result<Process> Slurm::start(const Words& words) const {
  return lab_.start(0, {.words = words, .environment = environment(), .input = "", .folder = folder_.path()});
}

Result<int> Slurm::submit(const std::string& script, const Words& options) const {
  Words words = {"sbatch", "--parsable"};
  words.insert(words.end(), options.begin(), options.end());
  const Program program{.words = words, .environment = environment(), .input = script, .folder = folder_.path()};
  TUTTI_ASSIGN(const std::string said, lab_.run(0, program, kLimit));
  const auto job = text::integer_of<int>(std::string_view(said).substr(0, said.find_first_of(";\n")));
  if (!job) return Status(Code::internal, fmt::format("sbatch said '{}' instead of a number", text::trim(said)));
  return *job;
}

std::optional<BatchEnding> Slurm::await(int job, std::chrono::nanoseconds limit) const {
  const Deadline deadline = Deadline::after(os::now(), limit);
  while (!deadline.has_passed(os::now())) {
    const std::string said = " " + run({"scontrol", "show", "job", "-o", std::to_string(job)}).output;
    const std::string_view state = value_of(said, "JobState");
    const bool is_under_way = state == "PENDING" || state == "CONFIGURING" || state == "RUNNING" ||
                              state == "COMPLETING" || state == "SUSPENDED" || state.empty();
    if (!is_under_way) {
      const std::string_view code = value_of(said, "ExitCode");  // "3:0", with the signal behind
      return BatchEnding{std::string(state), text::integer_of<int>(code.substr(0, code.find(':'))).value_or(-1)};
    }
    ::usleep(kPollUs);
  }
  return std::nullopt;
}

Status Slurm::power_off(int host) {
  TUTTI_TRY(lab_.cut(host));
  lab_.kill_processes(host);
  std::erase_if(daemons_, [&](const auto& daemon) { return daemon->host == host; });
  return {};
}

Status Slurm::power_on(int host) {
  TUTTI_TRY(lab_.heal(host));
  return start_daemon("slurmd", host, {"slurmd", "-D", "-N", Lab::host_name(host)});
}

Status Slurm::await_idle(std::chrono::nanoseconds limit) const {
  const Deadline deadline = Deadline::after(os::now(), limit);
  std::string wanted;
  for (int host = 0; host < lab_.host_count(); ++host) wanted += "idle\n";
  std::string seen;
  while (!deadline.has_passed(os::now())) {
    seen = run({"sinfo", "-h", "-N", "-p", options_.partitions.front(), "-o", "%T"}).output;
    if (seen == wanted) return {};
    ::usleep(kPollUs);
  }
  return {Code::timed_out, fmt::format("Slurm has hosts that are not idle; sinfo says: {}\n{}", seen, daemon_output())};
}

std::string Slurm::daemon_output() const {
  std::string all;
  for (const auto& daemon : daemons_) all += fmt::format("{}: {}\n", daemon->name, daemon->process.output());
  return all;
}

// A step on its way out may still be there as slurmstepd, which no job can do anything about.
std::vector<pid_t> Slurm::job_processes() const {
  std::vector<pid_t> found = lab_.processes();
  std::erase_if(found, [&](pid_t pid) {
    const auto name = os::read_small_file(fmt::format("/proc/{}/comm", pid));
    return !name || name->starts_with("slurm");
  });
  return found;
}

Status Slurm::write_files() const {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::create_directory(folder_.file("state"), failure);
  fs::create_directory(folder_.file("bin"), failure);
  for (int host = 0; host < lab_.host_count(); ++host) {
    fs::create_directories(fmt::format("{}/{}/tmp", folder_.path(), Lab::host_name(host)), failure);
  }
  TUTTI_TRY(write_file(folder_.file("slurm.conf"), configuration()));
  // Unused, but loaded all the same; that of version 2 refuses machines with both versions.
  TUTTI_TRY(write_file(folder_.file("cgroup.conf"), "CgroupPlugin=cgroup/v1\n"));
  if (options_.gpus_per_host > 0) TUTTI_TRY(make_gpus());
  std::array<std::byte, 128> key{};
  TUTTI_TRY(os::fill_random(key));
  TUTTI_TRY(write_file(folder_.file("munge.key"), std::string(reinterpret_cast<const char*>(key.data()), key.size())));
  fs::permissions(folder_.file("munge.key"), fs::perms(0400), failure);
  if (failure) return {Code::internal, fmt::format("{}: {}", folder_.path(), failure.message())};
  return {};
}

// Slurm counts GPUs by their devices and looks whether they are such. These are more names of /dev/null.
Status Slurm::make_gpus() const {
  for (int gpu = 0; gpu < options_.gpus_per_host; ++gpu) {
    const std::string path = folder_.file(fmt::format("gpu{}", gpu));
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
      return {Code::unsupported, fmt::format("making the device {}: {}", path, os::error_text(errno))};
    }
  }
  return write_file(folder_.file("gres.conf"),
                    fmt::format("NodeName=host[0-{}] Name=gpu File={}\n", lab_.host_count() - 1,
                                folder_.file(fmt::format("gpu[0-{}]", options_.gpus_per_host - 1))));
}

// Ports are the usual ones: the network is the lab's own. Processors and memory are declared, not real. A host that
// does not answer is given up soon.
std::string Slurm::configuration() const {
  std::string text = fmt::format(R"(ClusterName=lab
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
SlurmdTimeout=10
ReturnToService=2
KillWait=5
)",
                                 folder_.path());
  const bool has_gpus = options_.gpus_per_host > 0;
  if (has_gpus) text += "GresTypes=gpu\n";
  text += options_.more;
  text += fmt::format("NodeName=host[0-{}] CPUs=8 RealMemory=1000 {}State=UNKNOWN\n", lab_.host_count() - 1,
                      has_gpus ? fmt::format("Gres=gpu:{} ", options_.gpus_per_host) : "");
  for (const std::string& partition : options_.partitions) {
    text += fmt::format("PartitionName={} Nodes=ALL Default={} MaxTime=INFINITE State=UP\n", partition,
                        partition == options_.partitions.front() ? "YES" : "NO");
  }
  return text;
}

Status Slurm::start_daemon(const std::string& name, int host, const Words& words) {
  const pid_t keeper = host == kNowhere ? kThisMachine : lab_.keeper(host);
  TUTTI_ASSIGN(auto process, Process::start(keeper, {.words = words, .environment = environment()}));
  daemons_.push_back(std::make_unique<Daemon>(Daemon{name, host, std::move(process)}));
  return {};
}

Status Slurm::start_daemons() {
  TUTTI_TRY(start_daemon("munged", kNowhere,
                         {"munged", "--foreground", "--force", "--socket=" + folder_.file("munge.socket"),
                          "--key-file=" + folder_.file("munge.key"), "--pid-file=" + folder_.file("munge.pid"),
                          "--log-file=" + folder_.file("munge.log"), "--seed-file=" + folder_.file("munge.seed")}));
  TUTTI_TRY(start_daemon("slurmctld", 0, {"slurmctld", "-D", "-i"}));
  for (int host = 0; host < lab_.host_count(); ++host) {
    TUTTI_TRY(start_daemon("slurmd", host, {"slurmd", "-D", "-N", Lab::host_name(host)}));
  }
  return {};
}

}  // namespace tutti::lab
