// The files in which a user or a machine keeps variables of NCCL: ~/.nccl.conf and /etc/nccl.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/knobs.h"

namespace tutti::nccl {

struct FileSetting {
  std::string name;
  std::string value;
};

// NAME=VALUE lines; what follows # is a comment, other lines are skipped.
std::vector<FileSetting> parse_settings(std::string_view text);

// Which files count, the first of two that set the same name: NCCL_CONF_FILE or ~/.nccl.conf, then that of the machine.
std::vector<std::string> settings_files(const KnobLookup& lookup);

// A file that does not exist has no settings.
std::vector<FileSetting> read_settings(const std::string& path);

}  // namespace tutti::nccl
