#include "tools/tutti/check/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/knobs.h"
#include "bootstrap/network/selection.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/network_interfaces.h"
#include "os/tcp_socket.h"
#include "transport/rdma_devices.h"
#include "transport/ucx.h"

namespace tutti::tool::check {

namespace {

constexpr std::chrono::milliseconds kReachPatience{500};

Result<bootstrap::Selection> selection_here() {
  // Bad settings are a finding of their own: without them, the interfaces are still worth a look.
  const auto given = Knobs::read(os::environment_variable);
  const Knobs knobs = given ? *given : Knobs::standard();
  TUTTI_ASSIGN(const bootstrap::Wish wish, bootstrap::wish_of(knobs));
  TUTTI_ASSIGN(const auto interfaces, os::find_network_interfaces());
  return bootstrap::select_interfaces(interfaces, wish);
}

std::string ports_text(const std::vector<transport::RdmaPort>& ports) {
  std::vector<std::string> texts;
  for (const transport::RdmaPort& port : ports) {
    texts.push_back(port.is_active ? port.name : port.name + " (without a network)");
  }
  return texts.empty() ? "no InfiniBand or RoCE port" : fmt::format("{}", fmt::join(texts, ", "));
}

// Connects to itself at that address: what strangers in between do to packets shows here too.
Status try_address(const os::IpAddress& address) {
  TUTTI_ASSIGN(const os::TcpListener listener, os::TcpListener::listen(os::TcpAddress(address, 0), {}));
  return os::TcpSocket::connect(listener.address(), {}, {}, Deadline::after(os::now(), kReachPatience)).status();
}

}  // namespace

Finding find_settings() {
  const auto knobs = Knobs::read(os::environment_variable);
  if (!knobs) {
    return {State::missing, "settings", std::string(knobs.status().text()), "'tutti env' lists every setting"};
  }
  std::vector<std::string_view> given;
  for (const KnobReading& reading : knobs->readings()) {
    if (!reading.variable.empty()) given.push_back(reading.variable);
  }
  Finding finding{
      .what = "settings",
      .text = given.empty() ? "all have their defaults" : fmt::format("the environment has {}", fmt::join(given, ", ")),
      .details = knobs->notes()};
  for (std::string& sentence : unknown_knobs(os::environment_names("TUTTI_")))
    finding.details.push_back(std::move(sentence));
  return finding;
}

Finding find_interfaces() {
  const auto selection = selection_here();
  if (!selection) {
    return {State::missing, "interfaces", std::string(selection.status().text()),
            "change the setting, or unset it: interfaces choose themselves"};
  }
  std::vector<std::string> reasons = selection->reasons();
  Finding finding{.what = "interfaces", .text = reasons.front()};
  finding.details.assign(reasons.begin() + 1, reasons.end());
  if (selection->chosen.empty()) {
    finding.state = State::slower;
    finding.remedy = "ranks of this host need none; to reach others, TUTTI_SOCKET_IFNAME names what to use";
  }
  return finding;
}

Finding find_reach() {
  const auto selection = selection_here();
  Finding finding{.what = "addresses"};
  std::vector<std::string> reached;
  if (selection) {
    for (const os::NetworkInterface& interface : selection->chosen) {
      for (const os::InterfaceAddress& address : interface.addresses) {
        const std::string name = os::text_of(address.address);
        const Status status = try_address(address.address);
        if (status) {
          reached.push_back(name);
        } else {
          finding.state = State::slower;
          finding.details.push_back(fmt::format("{} of {}: {}", name, interface.name, status.text()));
        }
      }
    }
  }
  finding.text =
      reached.empty() ? "none can be connected to" : fmt::format("{} can be connected to", fmt::join(reached, ", "));
  if (finding.state != State::good) {
    finding.remedy = "look at the firewall (nft list ruleset), or leave the interface out with TUTTI_SOCKET_IFNAME";
  }
  return finding;
}

Finding find_carrier() {
  const auto knobs = Knobs::read(os::environment_variable);
  const TransportChoice choice = knobs ? knobs->transport() : TransportChoice::automatic;
  const auto ports = transport::find_rdma_ports();
  const bool has_port = transport::has_active_port(ports);
  const Status ucx = transport::try_ucx();
  const std::string there = ports_text(ports);
  const std::string library = ucx ? fmt::format("UCX {}", transport::ucx_version()) : std::string(ucx.text());
  if (choice == TransportChoice::ucx && !ucx) {
    return {State::missing, "carrier", fmt::format("TUTTI_TRANSPORT=ucx, but {}", library), "or unset TUTTI_TRANSPORT"};
  }
  if (choice == TransportChoice::tcp) {
    return {.what = "carrier", .text = fmt::format("TCP, as TUTTI_TRANSPORT=tcp says; {}", there)};
  }
  if (has_port && !ucx) return {State::slower, "carrier", fmt::format("TCP, in spite of {}", there), library};
  if (has_port || choice == TransportChoice::ucx) {
    return {.what = "carrier", .text = fmt::format("{}; {}", library, there)};
  }
  return {.what = "carrier", .text = fmt::format("TCP; {}", there)};
}

}  // namespace tutti::tool::check
