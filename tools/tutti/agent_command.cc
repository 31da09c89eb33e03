// `tutti agent`: what `tutti run` starts on every host. Not for people, so no help mentions it.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "launch/agent/agent_process.h"
#include "tools/tutti/command.h"
#include "tools/tutti/rank_activity.h"

namespace tutti::tool {

namespace {

struct AgentOptions {
  launch::HostIndex host = 0;
  std::size_t ports = 0;
  double silence_s = 0;
  bool connects = false;
};

int run_agent(const AgentOptions& options) {
  launch::AgentSettings settings{
      .port_count = options.ports,
      .silence = std::chrono::nanoseconds(static_cast<std::int64_t>(options.silence_s * 1e9)),
      .complete = add_activity};
  const Status status = launch::run_agent(std::move(settings), [&] {
    return options.connects ? launch::connect_by_ticket() : launch::take_standard_streams(options.host);
  });
  if (status) return kExitDone;
  fmt::print(stderr, "tutti agent: {}\n", status.text());
  return kExitFailed;
}

}  // namespace

void add_agent_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, AgentOptions& options) {
    command.add_option("--host", options.host, "Its place in the job");
    command.add_option("--ports", options.ports, "How many free ports to look for");
    command.add_option("--silence", options.silence_s, "Seconds of silence after which the launcher counts as gone");
    command.add_flag("--connect", options.connects, "Read a ticket from standard input and connect to the launcher");
  };
  commands.add<AgentOptions>(root, {"agent", "Run the ranks of a job on this host.", ""}, add_options, run_agent)
      .group("");
}

}  // namespace tutti::tool
