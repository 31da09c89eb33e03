// What the variables of NCCL say to us, read from the environment and from its files of settings.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "tutti/communicator.h"

namespace tutti::nccl {

// A setting of ours or of UCX that follows from variables of NCCL.
struct Consequence {
  std::string_view name;  // TUTTI_..., UCX_...
  std::string value;
  std::string cause;  // "NCCL_IB_DISABLE='1'"
};

struct Environment {
  std::vector<AllowedAlgorithms> allowed;  // NCCL_ALGO
  std::string allowed_by;                  // "NCCL_ALGO=tree"
  std::string meeting_address;             // NCCL_COMM_ID, for Identifier::of_address; empty: none
  std::optional<bool> is_blocking;         // NCCL_COMM_BLOCKING; nullopt: as the program says
  bool dumps_parameters = false;           // NCCL_PARAM_DUMP_ALL
  std::vector<Consequence> consequences;   // whether or not the setting itself has a value, which then counts
};

// What the files of settings say counts from now on where the environment says nothing.
void read_settings_files();

// Fails with every bad value in one line. `adapters` as find_adapters() gives them.
Result<Environment> read_environment(const KnobLookup& lookup, std::span<const std::string> adapters);

// What to tell people once, at info: variables without a meaning and why, unknown ones with the nearest that is known,
// and what follows from the others. `names` are those that are set.
std::vector<std::string> remarks(const KnobLookup& lookup, std::span<const std::string> names);

// The environment of this process, for a call that makes an identifier or a communicator. The first call reads the
// files, makes consequences count where nothing else is set, and writes the remarks to the log. From any thread.
Result<Environment> environment_of_process();

// A communicator's options as the environment wants them.
void apply(const Environment& environment, CommunicatorOptions& options);

}  // namespace tutti::nccl
