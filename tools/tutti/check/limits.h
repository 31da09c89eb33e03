// What `tutti check` finds of the limits that users and containers are given, and of the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

// What the kernel says, so that judging it is a pure function. nullopt: without a limit, or not known.
struct Limits {
  std::optional<std::uint64_t> locked_bytes = {};
  std::optional<std::uint64_t> open_files = {};
  std::optional<std::uint64_t> open_files_max = {};  // to which a process may raise it
  std::optional<std::uint64_t> processes = {};
  std::optional<std::uint64_t> shm_bytes = {};  // the size of /dev/shm; nullopt: there is none
  std::uint64_t shm_free_bytes = 0;
  std::optional<std::uint64_t> group_memory_bytes = {};  // of the control group
  std::optional<double> group_cores = {};
  std::string overcommit = "0";  // vm.overcommit_memory
  bool has_rdma = false;         // a network card that needs locked memory
};

Limits limits_here();

Finding find_locked_memory(const Limits& limits);
Finding find_open_files(const Limits& limits);
Finding find_processes_limit(const Limits& limits);
Finding find_shm(const Limits& limits);
Finding find_control_group(const Limits& limits);
Finding find_overcommit(const Limits& limits);

// The least memory.max of the group that the text of /proc/self/cgroup names and of those it is in.
std::optional<std::uint64_t> memory_limit(const std::string& root, std::string_view proc_self_cgroup);

// Whether a service of time keeps the clock.
enum class ClockState : std::uint8_t { synchronised, free, unknown };
ClockState clock_state();
Finding find_clock(ClockState state);

std::string limit_text(const std::optional<std::uint64_t>& limit);  // "1024", "unlimited"
std::string bytes_limit_text(const std::optional<std::uint64_t>& limit);

}  // namespace tutti::tool::check
