// Hosts as people name them, one after the other: checked, expanded, and each of them once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "launch/job.h"
#include "tutti/status.h"

namespace tutti::launch {

inline constexpr std::size_t kHostsMax = 100'000;
inline constexpr int kSlotsMax = 65'536;  // of one host
inline constexpr std::size_t kHostNameBytesMax = 255;

// Whether ssh and a shell take it for the name of a host and for nothing else: "gpu12", "user@10.0.0.1",
// "fe80::1%eth0". Names become words of command lines, so what could be an option or means something to a shell is no
// name.
Status check_host_name(std::string_view name);

class HostTable {
 public:
  // One name or several in Slurm's form, "gpu[12-13,20]". Of a name that is there already the slots are added up.
  Status add(std::string_view names, int slots, int slots_max = 0);
  std::vector<Host> take() && { return std::move(hosts_); }

 private:
  Status add_one(std::string name, int slots, int slots_max);

  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> places_;
};

// "4" as slots of a host; the failure names the value and what is allowed.
Result<int> slots_of(std::string_view text);

// What stands in front of the slots and the slots: "gpu[1-2]:4", "user@[fe80::1]:4", "10.0.0.1". Addresses of IPv6 lose
// their brackets. `slots` is empty where none are given.
struct HostWord {
  std::string name;
  std::string_view slots;
};
Result<HostWord> host_word_of(std::string_view word);

}  // namespace tutti::launch
