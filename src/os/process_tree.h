// All that descends from a process: who lives, what it uses, and its end. A number that is used again hits nobody else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/deadline.h"
#include "os/process.h"
#include "tutti/status.h"

namespace tutti::os {

struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  ProcessState state = ProcessState::unknown;
  std::uint64_t start_ticks = 0;  // since the machine started: with the pid it names the process for ever
  std::uint64_t cpu_ticks = 0;
  std::uint64_t resident_pages = 0;
  bool operator==(const ProcessFacts&) const = default;
};

// From the text of /proc/PID/stat; nullopt where it is anything else.
std::optional<ProcessFacts> parse_process(std::string_view stat);

struct TreeUse {
  double cpu_s = 0;
  std::uint64_t resident_bytes = 0;
};

// Who descends from whom, at one moment.
class ProcessTree {
 public:
  static ProcessTree read();  // of the machine, as far as /proc shows it
  explicit ProcessTree(std::vector<ProcessFacts> all);

  std::optional<ProcessFacts> find(pid_t pid) const;
  // Without the root itself. A process comes after its parent. What descends from one of `without` is left out with it.
  std::vector<ProcessFacts> descendants_of(pid_t root, std::span<const pid_t> without = {}) const;
  TreeUse use_of(pid_t root) const;  // with all that descends from it

 private:
  std::vector<ProcessFacts> all_;                  // in the order of their parents
  std::unordered_map<pid_t, std::size_t> places_;  // by pid
};

inline bool is_alive(const ProcessFacts& process) {
  return process.state != ProcessState::zombie && process.state != ProcessState::gone;
}

// Whoever loses its parent below this process becomes a child of it, rather than of the first process.
Status adopt_orphans();

// To this very process: nothing where it has ended, even when its number is used again.
void send_signal(const ProcessFacts& process, int signal);

// Waits for a child that has ended and is none of those `is_known` names, and for the next, until there is none.
void reap_orphans(const std::function<bool(pid_t)>& is_known);

// SIGKILL to all that descends from this process, again and again, since a dying one may have started another. Ended
// children are waited for. True: nothing is left.
bool kill_descendants(Deadline deadline);

}  // namespace tutti::os
