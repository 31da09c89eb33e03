// A few virtual hosts on one machine, joined by networks whose speed and cables a test can change. Nothing of it has a
// name or a file on the machine, so labs do not meet, and all of a lab ends with the process that made it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/network/lab/keeper.h"
#include "tests/network/lab/process.h"
#include "tutti/status.h"

namespace tutti::lab {

inline constexpr int kHostsMax = 16;
inline constexpr int kRailsMax = 8;

// A network that every host has an interface in: rail r is "eth<r>", 10.77.r.0/24 and fd00:77:r::/64.
struct Rail {
  std::uint64_t bits_per_second = 0;  // of every cable, each way, with the headers of packets; 0: as fast as it goes
  int mtu = 1500;
};

enum class Decoys : std::uint8_t { none, present };

struct LabOptions {
  int host_count = 2;
  std::vector<Rail> rails = {Rail{}};
  // On every host, interfaces that lead nowhere: docker0, which is up and has the same address on all of them, and
  // eth9, which has an address and is down.
  Decoys decoys = Decoys::none;
};

enum class Link : std::uint8_t {
  up,
  down,       // switched off by the host
  unplugged,  // switched off at the other end: the host sees that there is no carrier
};

enum class Family : std::uint8_t { ipv4, ipv6 };

class Lab {
 public:
  // Why this machine has no labs: a permission, a program or a part of the kernel is missing.
  static Status is_possible();
  static Result<Lab> create(const LabOptions& options = {});
  Lab(Lab&&) noexcept = default;
  Lab& operator=(Lab&&) = delete;
  ~Lab();  // kills what still runs on its hosts

  int host_count() const { return options_.host_count; }
  int rail_count() const { return static_cast<int>(options_.rails.size()); }
  static std::string host_name(int host);       // "host0"; every host knows all names, as those of rail 0
  static std::string interface_name(int rail);  // "eth0"
  static std::string subnet(int rail);          // "10.77.0.0/24"
  static std::string address(int host, int rail, Family family = Family::ipv4);

  // Moves the calling process to a host: for children of the process that made the lab.
  Status enter(int host) const { return enter_host(keeper(host)); }
  Result<Process> start(int host, const Program& program) const { return Process::start(keeper(host), program); }
  Result<std::string> run(int host, const Program& program, std::chrono::nanoseconds limit) const {
    return run_program(keeper(host), program, limit);
  }

  Status set_link(int host, int rail, Link link);
  // What the host sends and is sent disappears, and nobody is told: interfaces stay as they are, connections wait.
  Status cut(int host);
  Status heal(int host);
  // By the routes of the rails, for connections that are made from now on; empty: as the machine has it.
  Status set_congestion_control(const std::string& name);

  pid_t keeper(int host) const { return hosts_[static_cast<std::size_t>(host)].pid(); }
  // Ends everything that runs on a host, daemons too; its network stays, and the other hosts learn of it.
  void kill_processes(int host) const;
  // What runs on the hosts, whoever started it, without the keepers.
  std::vector<pid_t> processes() const;
  // Kills what is left on the hosts after a while. False: something was.
  bool clear(std::chrono::nanoseconds grace) const;

 private:
  Lab(LabOptions options, Keeper wires, std::vector<Keeper> hosts)
      : options_(std::move(options)), wires_(std::move(wires)), hosts_(std::move(hosts)) {}

  Status lay_cables();
  Status set_up_host(int host);
  Status shape();
  Status await_link(int host, int rail, Link link) const;

  LabOptions options_;
  Keeper wires_;  // holds the other ends of all cables: a switch for each rail
  std::vector<Keeper> hosts_;
};

}  // namespace tutti::lab
