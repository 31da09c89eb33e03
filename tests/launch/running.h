// Jobs of `tutti run` as people start them, and what of them is still there: for tests of the whole command.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/network/lab/folder.h"
#include "tests/network/lab/launch.h"
#include "tests/network/lab/process.h"

namespace tutti::programs {

using lab::Ending;
using lab::Environment;
using lab::Words;

// A program of this build: "tutti", "job_rank".
std::string built(const std::string& name);
// tutti run OPTIONS job_rank ACTIONS; tests/launch/job_rank.cc has the actions.
Words run_words(const Words& options, const Words& actions);
// The same words as one that a shell takes apart again.
std::string shell_text(const Words& words);

// Whether this becomes true within the limit.
bool comes_true(const std::function<bool()>& condition, std::chrono::nanoseconds limit = lab::kLimit);

// Lines in alphabetical order: those of different ranks come in any.
std::vector<std::string> sorted_lines(const std::string& text);
std::size_t count_of(std::string_view text, std::string_view part);

// Processes of this machine, whoever's they are, that were started with this in their environment: "NAME=value".
std::vector<pid_t> processes_with(const std::string& variable);
// The arguments of a process with blanks between them; empty where it is gone.
std::string command_line(pid_t pid);
// The most memory that the process has had at once; 0 where it is gone.
std::size_t memory_peak_bytes(pid_t pid);
// For messages: their numbers and command lines.
std::string described(const std::vector<pid_t>& processes);

// The number that a rank, or the child of one, has written to the folder; 0: none yet.
pid_t noted_pid(const lab::Folder& folder, const std::string& name);
// Whether ranks 0 to count - 1 have all written theirs in time: "rank" or "child".
bool have_noted(const lab::Folder& folder, const std::string& what, int count);

}  // namespace tutti::programs
