// Recordings as files: when a communicator has ended, or when somebody asks.
#pragma once

#include <span>
#include <string>

#include "comm/watch/recording.h"

namespace tutti::comm::watch {

// The folder for dumps, from TUTTI_DUMP_DIR; empty: none are written.
std::string dump_folder();

// "tutti-3f2a96c1d0e4b758-rank3-4711.json". With TUTTI_JOB_ID or SLURM_JOB_ID: "tutti-JOB-3f2a...".
std::string dump_name(const Recording& recording);

// Writes the file beside its place and moves it there, so that nobody finds half of one. Returns its path.
Result<std::string> write_dump(const std::string& folder, const Recording& recording);

// To the folder, if there is one; says so on standard error.
void dump_after_end(const Recording& recording) noexcept;
// The same for several, on demand. Without a folder they go to the current one.
void dump_on_demand(std::span<const Recording> recordings) noexcept;

}  // namespace tutti::comm::watch
