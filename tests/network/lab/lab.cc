#include "tests/network/lab/lab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "os/clock.h"
#include "os/small_file.h"

namespace tutti::lab {

namespace {

using Lines = std::vector<std::string>;

constexpr std::chrono::seconds kToolLimit(20);
constexpr std::chrono::seconds kLinkLimit(10);
constexpr useconds_t kPollUs = 1000;

// The far end of a cable, and the switch it is plugged into.
std::string port_name(int host, int rail) { return fmt::format("h{}r{}", host, rail); }
std::string switch_name(int rail) { return fmt::format("rail{}", rail); }

// One start of `ip` or `tc` for many changes.
Status apply(const Keeper& keeper, const char* tool, const Lines& lines) {
  if (lines.empty()) return {};
  const Program program{.words = {tool, "-batch", "-"}, .input = fmt::format("{}\n", fmt::join(lines, "\n"))};
  return run_program(keeper.pid(), program, kToolLimit).status();
}

// A bucket that holds what the line carries in 0.6 ms: more would let short transfers be faster than the line, less
// would cut the large packets of fast lines apart. The queue is that of a switch with 20 ms of memory.
std::string shaping_of(const std::string& interface, std::uint64_t bits_per_second) {
  constexpr std::uint64_t kBucketBytesMin = 16 << 10;
  const std::uint64_t bucket = std::max(kBucketBytesMin, bits_per_second / 8 * 6 / 10'000);
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} latency 20ms", interface, bits_per_second, bucket);
}

std::string hosts_file(int host_count) {
  std::string text = "127.0.0.1 localhost\n";
  for (int host = 0; host < host_count; ++host) {
    text += fmt::format("{} {}\n", Lab::address(host, 0), Lab::host_name(host));
  }
  return text;
}

Status valid(const LabOptions& options) {
  const std::size_t rails = options.rails.size();
  if (options.host_count >= 1 && options.host_count <= kHostsMax && rails >= 1 && rails <= kRailsMax) return {};
  return invalid_argument(fmt::format("{} hosts with {} rails; there may be 1 to {} hosts and 1 to {} rails",
                                      options.host_count, rails, kHostsMax, kRailsMax));
}

// A file of /sys as this host sees it.
std::string seen_by(const Keeper& keeper, const std::string& interface, std::string_view file) {
  const auto text =
      os::read_small_file(fmt::format("/proc/{}/root/sys/class/net/{}/{}", keeper.pid(), interface, file));
  return text.value_or("");
}

// Everything that a lab needs, tried on a host that nobody else sees.
Status try_parts() {
  const auto keeper = Keeper::create({.name = "trial", .hosts = "127.0.0.1 localhost\n"});
  if (!keeper) return keeper.status();
  TUTTI_TRY(apply(*keeper, "ip", {"link add name rail0 type bridge", "link add name left type veth peer name right"}));
  return apply(*keeper, "tc", {shaping_of("left", 1'000'000'000)});
}

}  // namespace

std::string Lab::host_name(int host) { return fmt::format("host{}", host); }
std::string Lab::interface_name(int rail) { return fmt::format("eth{}", rail); }
std::string Lab::subnet(int rail) { return fmt::format("10.77.{}.0/24", rail); }
std::string Lab::address(int host, int rail, Family family) {
  return family == Family::ipv4 ? fmt::format("10.77.{}.{}", rail, host + 1)
                                : fmt::format("fd00:77:{}::{}", rail, host + 1);
}

Status Lab::is_possible() {
  static const Status kStatus = try_parts();
  if (kStatus) return {};
  return {Code::unsupported,
          fmt::format("virtual hosts need root, iproute2 and a kernel with bridges, veth and tbf; here: {}",
                      kStatus.text())};
}

Result<Lab> Lab::create(const LabOptions& options) {
  TUTTI_TRY(valid(options));
  TUTTI_ASSIGN(Keeper wires, Keeper::create({.name = "switch", .hosts = ""}));
  std::vector<Keeper> hosts;
  for (int host = 0; host < options.host_count; ++host) {
    TUTTI_ASSIGN(Keeper keeper, Keeper::create({.name = host_name(host), .hosts = hosts_file(options.host_count)}));
    hosts.push_back(std::move(keeper));
  }
  Lab lab(options, std::move(wires), std::move(hosts));
  TUTTI_TRY(lab.lay_cables());
  for (int host = 0; host < options.host_count; ++host) TUTTI_TRY(lab.set_up_host(host));
  TUTTI_TRY(lab.shape());
  for (int host = 0; host < options.host_count; ++host) {
    for (int rail = 0; rail < lab.rail_count(); ++rail) TUTTI_TRY(lab.await_link(host, rail, Link::up));
  }
  return lab;
}

Lab::~Lab() {
  if (!hosts_.empty()) clear(std::chrono::nanoseconds(0));
}

Status Lab::lay_cables() {
  Lines lines;
  for (int rail = 0; rail < rail_count(); ++rail) {
    const int mtu = options_.rails[static_cast<std::size_t>(rail)].mtu;
    lines.push_back(fmt::format("link add name {} mtu {} type bridge", switch_name(rail), mtu));
    lines.push_back(fmt::format("link set dev {} up", switch_name(rail)));
    for (int host = 0; host < host_count(); ++host) {
      lines.push_back(fmt::format("link add name {} mtu {} type veth peer name {} mtu {} netns {}",
                                  port_name(host, rail), mtu, interface_name(rail), mtu, keeper(host)));
      lines.push_back(fmt::format("link set dev {} master {} up", port_name(host, rail), switch_name(rail)));
    }
  }
  return apply(wires_, "ip", lines).while_doing("laying cables");
}

Status Lab::set_up_host(int host) {
  const Keeper& keeper = hosts_[static_cast<std::size_t>(host)];
  Lines lines = {"link set dev lo up"};
  for (int rail = 0; rail < rail_count(); ++rail) {
    const std::string interface = interface_name(rail);
    lines.push_back(fmt::format("address add {}/24 dev {}", address(host, rail), interface));
    lines.push_back(fmt::format("address add {}/64 dev {} nodad", address(host, rail, Family::ipv6), interface));
    lines.push_back(fmt::format("link set dev {} up", interface));
  }
  if (options_.decoys == Decoys::present) {
    for (const char* line :
         {"link add name docker0 type bridge", "link add name vethd0 type veth peer name vethd1",
          "link set dev vethd0 master docker0 up", "link set dev vethd1 up", "address add 172.17.0.1/16 dev docker0",
          "link set dev docker0 up", "link add name eth9 type veth peer name eth9p"}) {
      lines.emplace_back(line);
    }
    lines.push_back(fmt::format("address add 10.78.9.{}/24 dev eth9", host + 1));
  }
  return apply(keeper, "ip", lines).while_doing(fmt::format("setting up {}", host_name(host)));
}

Status Lab::shape() {
  Lines far_ends;
  for (int host = 0; host < host_count(); ++host) {
    Lines own;
    for (int rail = 0; rail < rail_count(); ++rail) {
      const std::uint64_t rate = options_.rails[static_cast<std::size_t>(rail)].bits_per_second;
      if (rate == 0) continue;
      own.push_back(shaping_of(interface_name(rail), rate));
      far_ends.push_back(shaping_of(port_name(host, rail), rate));
    }
    TUTTI_TRY(apply(hosts_[static_cast<std::size_t>(host)], "tc", own));
  }
  return apply(wires_, "tc", far_ends);
}

Status Lab::set_link(int host, int rail, Link link) {
  const Keeper& keeper = hosts_[static_cast<std::size_t>(host)];
  const std::string interface = interface_name(rail);
  const char* far_state = link == Link::unplugged ? "down" : "up";
  TUTTI_TRY(apply(wires_, "ip", {fmt::format("link set dev {} {}", port_name(host, rail), far_state)}));
  if (link == Link::down) {
    TUTTI_TRY(apply(keeper, "ip", {fmt::format("link set dev {} down", interface)}));
  } else {
    // An interface that goes down loses its IPv6 addresses, and nothing brings them back.
    TUTTI_TRY(apply(keeper, "ip",
                    {fmt::format("link set dev {} up", interface),
                     fmt::format("address replace {}/64 dev {} nodad", address(host, rail, Family::ipv6), interface)}));
  }
  return await_link(host, rail, link);
}

// The kernel tells the two ends of a cable about one another in its own time.
Status Lab::await_link(int host, int rail, Link link) const {
  const Keeper& keeper = hosts_[static_cast<std::size_t>(host)];
  const std::string interface = interface_name(rail);
  const auto has_arrived = [&] {
    const std::string state = seen_by(keeper, interface, "operstate");
    if (link != Link::up) return state == "down" || state == "lowerlayerdown";
    constexpr std::string_view kForwarding = "3";
    return state == "up" && seen_by(wires_, port_name(host, rail), "brport/state") == kForwarding;
  };
  const Deadline deadline = Deadline::after(os::now(), kLinkLimit);
  while (!has_arrived()) {
    if (deadline.has_passed(os::now())) {
      return {Code::timed_out,
              fmt::format("{} of {} is still {}", interface, host_name(host), seen_by(keeper, interface, "operstate"))};
    }
    ::usleep(kPollUs);
  }
  return {};
}

// A port that has left its switch is an interface without an address in a namespace where nobody listens.
Status Lab::cut(int host) {
  Lines lines;
  for (int rail = 0; rail < rail_count(); ++rail) {
    lines.push_back(fmt::format("link set dev {} nomaster", port_name(host, rail)));
  }
  return apply(wires_, "ip", lines);
}

Status Lab::heal(int host) {
  Lines lines;
  for (int rail = 0; rail < rail_count(); ++rail) {
    lines.push_back(fmt::format("link set dev {} master {}", port_name(host, rail), switch_name(rail)));
  }
  TUTTI_TRY(apply(wires_, "ip", lines));
  for (int rail = 0; rail < rail_count(); ++rail) TUTTI_TRY(await_link(host, rail, Link::up));
  return {};
}

Status Lab::set_congestion_control(const std::string& name) {
  for (int host = 0; host < host_count(); ++host) {
    Lines lines;
    for (int rail = 0; rail < rail_count(); ++rail) {
      lines.push_back(fmt::format("route replace {} dev {} proto kernel scope link src {}{}", subnet(rail),
                                  interface_name(rail), address(host, rail), name.empty() ? "" : " congctl " + name));
    }
    TUTTI_TRY(apply(hosts_[static_cast<std::size_t>(host)], "ip", lines).while_doing("setting congestion control"));
  }
  return {};
}

void Lab::kill_processes(int host) const { kill_all_on(keeper(host)); }

std::vector<pid_t> Lab::processes() const {
  std::vector<pid_t> all;
  for (const Keeper& keeper : hosts_) {
    const std::vector<pid_t> found = processes_on(keeper.pid());
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

bool Lab::clear(std::chrono::nanoseconds grace) const {
  const Deadline deadline = Deadline::after(os::now(), grace);
  std::vector<pid_t> left = processes();
  while (!left.empty() && !deadline.has_passed(os::now())) {
    ::usleep(kPollUs);
    left = processes();
  }
  for (const pid_t pid : left) ::kill(pid, SIGKILL);
  return left.empty();
}

}  // namespace tutti::lab
