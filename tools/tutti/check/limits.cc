#include "tools/tutti/check/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <algorithm>

#include "base/text.h"
#include "os/control_group.h"
#include "os/small_file.h"
#include "transport/rdma_devices.h"

namespace tutti::tool::check {

namespace {

constexpr std::string_view kGroups = "/sys/fs/cgroup";
// A rank keeps a few descriptors for each rank that it talks to, and frameworks hundreds of their own.
constexpr std::uint64_t kOpenFilesWanted = 4096;
// Threads count too, and every rank of a framework has dozens.
constexpr std::uint64_t kProcessesWanted = 4096;
// What container engines give when nobody asks, and what data loaders of frameworks fill at once.
constexpr std::uint64_t kShmBytesWanted = std::uint64_t{1} << 30;

struct ResourceLimit {
  std::optional<std::uint64_t> now;
  std::optional<std::uint64_t> most;
};

std::optional<std::uint64_t> number_of(rlim_t value) {
  return value == RLIM_INFINITY ? std::nullopt : std::optional<std::uint64_t>(value);
}

ResourceLimit limit_of(__rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return {};
  return {number_of(limit.rlim_cur), number_of(limit.rlim_max)};
}

}  // namespace

Limits limits_here() {
  Limits limits;
  limits.locked_bytes = limit_of(RLIMIT_MEMLOCK).now;
  limits.open_files = limit_of(RLIMIT_NOFILE).now;
  limits.open_files_max = limit_of(RLIMIT_NOFILE).most;
  limits.processes = limit_of(RLIMIT_NPROC).now;
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) {
    limits.shm_bytes = shm.f_blocks * shm.f_frsize;
    limits.shm_free_bytes = shm.f_bavail * shm.f_frsize;
  }
  const std::string group = os::read_small_file("/proc/self/cgroup").value_or("");
  limits.group_memory_bytes = memory_limit(std::string(kGroups), group);
  limits.group_cores = os::cpu_quota(std::string(kGroups), group);
  limits.overcommit = os::read_small_file("/proc/sys/vm/overcommit_memory").value_or("0");
  limits.has_rdma = transport::has_active_port(transport::find_rdma_ports());
  return limits;
}

std::string limit_text(const std::optional<std::uint64_t>& limit) {
  return limit ? std::to_string(*limit) : "unlimited";
}

std::string bytes_limit_text(const std::optional<std::uint64_t>& limit) {
  return limit ? text::bytes_text(*limit) : "unlimited";
}

Finding find_locked_memory(const Limits& limits) {
  Finding finding{.what = "locked memory", .text = bytes_limit_text(limits.locked_bytes)};
  if (!limits.locked_bytes) return finding;
  if (!limits.has_rdma) {
    finding.text += "; only InfiniBand and RoCE need more";
    return finding;
  }
  finding.state = State::slower;
  finding.remedy =
      "'* - memlock unlimited' in /etc/security/limits.d, LimitMEMLOCK=infinity for slurmd and sshd, or docker run "
      "--ulimit memlock=-1";
  return finding;
}

Finding find_open_files(const Limits& limits) {
  Finding finding{.what = "open files", .text = limit_text(limits.open_files)};
  if (!limits.open_files || *limits.open_files >= kOpenFilesWanted) return finding;
  finding.state = State::slower;
  finding.text += fmt::format(" a process, fewer than the {} that jobs on many hosts need", kOpenFilesWanted);
  const bool may_raise = !limits.open_files_max || *limits.open_files_max >= kOpenFilesWanted;
  finding.remedy = may_raise ? fmt::format("ulimit -n {}", limits.open_files_max.value_or(65'536))
                             : "'* - nofile 65536' in /etc/security/limits.d, or docker run --ulimit nofile=65536";
  return finding;
}

Finding find_processes_limit(const Limits& limits) {
  Finding finding{.what = "process limit", .text = limit_text(limits.processes)};
  if (!limits.processes) return finding;
  finding.text += " of this user, threads included";
  if (*limits.processes >= kProcessesWanted) return finding;
  finding.state = State::slower;
  finding.remedy = fmt::format("'ulimit -u {}', or '* - nproc unlimited' in /etc/security/limits.d", kProcessesWanted);
  return finding;
}

Finding find_shm(const Limits& limits) {
  const std::string why = "frameworks and NCCL put data there, Tutti itself does not";
  if (!limits.shm_bytes) {
    return {State::slower, "/dev/shm", "is not there; " + why, "mount -t tmpfs tmpfs /dev/shm"};
  }
  Finding finding{
      .what = "/dev/shm",
      .text = fmt::format("{}, {} free", text::bytes_text(*limits.shm_bytes), text::bytes_text(limits.shm_free_bytes))};
  if (*limits.shm_bytes >= kShmBytesWanted) return finding;
  finding.state = State::slower;
  finding.text += "; " + why;
  finding.remedy = "docker run --shm-size=8g, or mount -o remount,size=8G /dev/shm";
  return finding;
}

Finding find_control_group(const Limits& limits) {
  const std::string memory =
      limits.group_memory_bytes ? text::bytes_text(*limits.group_memory_bytes) + " of memory" : "memory without limit";
  const std::string cores = limits.group_cores ? fmt::format("{:.3g} cores", *limits.group_cores) : "all cores";
  return {.what = "control group", .text = fmt::format("{}, {}", memory, cores)};
}

Finding find_overcommit(const Limits& limits) {
  if (limits.overcommit != "2") {
    return {.what = "overcommit", .text = fmt::format("vm.overcommit_memory is {}", limits.overcommit)};
  }
  return {State::slower, "overcommit", "vm.overcommit_memory is 2: large heaps that are hardly used are refused",
          "sysctl vm.overcommit_memory=0, or a smaller TUTTI_MEMORY_LIMIT"};
}

std::optional<std::uint64_t> memory_limit(const std::string& root, std::string_view proc_self_cgroup) {
  const auto path = os::parse_group_path(proc_self_cgroup);
  if (!path) return std::nullopt;
  std::optional<std::uint64_t> least;
  std::string group = *path == "/" ? "" : *path;
  while (true) {
    const auto text = os::read_small_file(fmt::format("{}{}/memory.max", root, group));
    const auto bytes = text ? text::integer_of<std::uint64_t>(text::trim(*text)) : std::nullopt;  // or "max"
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

ClockState clock_state() {
  timex reading{};
  const int state = adjtimex(&reading);  // modes 0: it changes nothing
  if (state < 0) return ClockState::unknown;
  return state == TIME_ERROR || (reading.status & STA_UNSYNC) != 0 ? ClockState::free : ClockState::synchronised;
}

Finding find_clock(ClockState state) {
  switch (state) {
    case ClockState::synchronised: return {.what = "clock", .text = "kept by a service of time"};
    case ClockState::unknown: return {.what = "clock", .text = "the kernel does not tell whether anybody keeps it"};
    case ClockState::free: break;
  }
  return {State::slower, "clock", "nobody keeps it: times in logs of several hosts will not fit each other",
          "install chrony, or systemctl enable --now systemd-timesyncd; in a container the host has to"};
}

}  // namespace tutti::tool::check
