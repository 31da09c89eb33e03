// Jobs and their ranks in words and tables, for `tutti ps` and `tutti top`. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "launch/job_view.h"

namespace tutti::tool {

std::string age_text(double seconds);  // "12s", "3m05s", "2h07m", "4d03h"
double age_s(const launch::JobStatus& job, Time now);
std::string command_text(std::span<const std::string> words);  // words with blanks in quotes
std::string state_text(const launch::RankStatus& rank);        // "running", "done", "exit 3", "SIGKILL", "lost"
std::string hosts_text(const launch::JobStatus& job);          // "gpu1", "gpu1,gpu2", "gpu1 and 63 more"
std::size_t alive_count(const launch::JobStatus& job);

using Row = std::vector<std::string>;
// Columns as wide as they need be; numbers (by `right_aligned`) on the right. The last column is not filled. Texts are
// made printable.
std::vector<std::string> table_of(std::span<const Row> rows, std::span<const std::size_t> right_aligned);

std::vector<std::string> jobs_table(std::span<const launch::JobStatus> jobs, Time now);
std::vector<std::string> ranks_table(std::span<const launch::JobStatus> jobs);  // a line for each rank

}  // namespace tutti::tool
