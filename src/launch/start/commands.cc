#include "launch/start/commands.h"

#include <algorithm>

#include "launch/start/agent_words.h"
#include "launch/start/ssh_words.h"
#include "launch/world.h"

namespace tutti::launch {
namespace {

constexpr int kTriesInTime = 3;  // ssh gives up soon enough for a host to be tried again before the deadline

// A port for each rank, and one more that rank 0 may need.
AgentCall call_of(const Settings& settings, HostIndex host) {
  return {
      .path = settings.agent, .host = host, .ports = settings.layout.local_size(host) + 1, .silence = settings.silence};
}

}  // namespace

Ways ways_of(const Settings& settings, std::string_view machine) {
  Ways ways;
  std::vector<HostIndex> remote;
  for (HostIndex host = 0; host < settings.layout.hosts.size(); ++host) {
    const bool is_here =
        settings.starter == Starter::local || is_this_machine(settings.layout.hosts[host].name, machine);
    (is_here ? ways.here : remote).push_back(host);
  }
  ways.over_ssh = tree_of(remote, settings.ssh.tree_width);
  return ways;
}

std::vector<std::string> local_command(const Settings& settings, HostIndex host, const std::string& program) {
  AgentCall call = call_of(settings, host);
  call.path = program;
  return agent_words(call);
}

std::vector<std::string> ssh_command(const Settings& settings, HostIndex host) {
  return ssh_words(settings.ssh, settings.start_timeout / kTriesInTime, settings.layout.hosts[host].name,
                   agent_words(call_of(settings, host)));
}

std::vector<std::string> step_agent_command(const Settings& settings) {
  AgentCall call = call_of(settings, 0);
  std::vector<int> ports(settings.layout.hosts.size(), 1);
  for (const Seat& seat : settings.layout.seats) ++ports[seat.host];
  for (const int count : ports) call.ports = std::max(call.ports, count);
  return connecting_agent_words(call);
}

}  // namespace tutti::launch
