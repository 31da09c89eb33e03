// Why a host could not be reached or is gone, in a sentence with a remedy. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/child_process.h"

namespace tutti::launch {

// By what an agent was reached.
enum class Way : std::uint8_t { local, ssh, slurm };

struct Parting {
  Way way = Way::local;
  std::string host = {};        // as the user gave it
  std::string agent_path = {};  // of `tutti` there
  bool has_answered = false;    // it was an agent that went
  std::string stream = {};      // what the end of its channel said
  std::string noise = {};       // what came instead of a greeting
  std::string complaints = {};  // of ssh, or of the agent
  std::optional<os::ProcessEnd> end = {};
};

std::string explanation_of(const Parting& parting);

// The last line that says something, without what would steer a terminal.
std::string last_line(std::string_view text);

}  // namespace tutti::launch
