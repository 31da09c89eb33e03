#include "launch/start/agent_words.h"

#include <fmt/format.h>

namespace tutti::launch {

std::vector<std::string> agent_words(const AgentCall& call) {
  return {call.path,   "agent",
          "--host",    fmt::to_string(call.host),
          "--ports",   fmt::to_string(call.ports),
          "--silence", fmt::to_string(call.silence.count())};
}

std::vector<std::string> connecting_agent_words(const AgentCall& call) {
  return {call.path,
          "agent",
          "--connect",
          "--ports",
          fmt::to_string(call.ports),
          "--silence",
          fmt::to_string(call.silence.count())};
}

}  // namespace tutti::launch
