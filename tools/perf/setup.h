// Who and where: the facts about a run that stand beside its numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/perf/options.h"
#include "tools/perf/results.h"
#include "tutti/status.h"

namespace tutti::perf {

// Of this process alone; seats are added by whoever knows the others.
Setup describe_run(const std::string& program, const std::vector<std::string>& command, const Options& options);

// The ranks of this process. Fails where there are fewer devices than it needs, and says both numbers.
struct Seating {
  int process = 0;
  int local_process = 0;  // among those of this host
  int group = 0;
  int count = 1;  // ranks of this process
};
Result<std::vector<Seat>> seats_of(const Seating& seating);

// As lines that other processes read.
std::string seats_text(std::span<const Seat> seats);
std::vector<Seat> parse_seats(const std::string& text);

// NCCL_TESTS_SPLIT and NCCL_TESTS_SPLIT_MASK: processes of one colour make one communicator.
Result<int> color_of(int process);

// "2024-05-01T12:00:00Z" and, of the machine's own time, "2024-05-01 12:00:00".
std::string universal_time();
std::string local_time();

}  // namespace tutti::perf
