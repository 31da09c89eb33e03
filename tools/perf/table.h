// The text output of nccl-tests, column for column, so that what reads it reads ours.
#pragma once

#include <cstdint>
#include <string>

#include "tools/perf/job.h"
#include "tools/perf/options.h"
#include "tools/perf/results.h"

namespace tutti::perf {

// In so many columns: two digits after the point where they fit, then one, then none, then an exponent.
std::string fitted(double value, int width);

// Each ends its lines. The parameters and the devices.
std::string preamble(const Setup& setup, const Options& options);
std::string seat_line(const Seat& seat);
std::string table_head(const Options& options);
// A row in its parts, as they become known; `now` is for -S, "2024-05-01 12:00:00".
std::string row_begin(const Row& row);
std::string row_part(const Measurement& measurement, Place place, const Options& options, const std::string& now);
std::string table_foot(const Run& run);

// "12.5 MB", powers of 1024, as the memory report writes it.
std::string memory_text(std::int64_t bytes);

}  // namespace tutti::perf
