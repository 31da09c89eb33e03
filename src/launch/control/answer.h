// What the launcher of a job answers on its control socket: one line of JSON each, and a job's status in it. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "launch/job_view.h"

namespace tutti::launch::control {

struct Answer {
  Status failure = {};                // why it was not done
  std::optional<JobStatus> job = {};  // of status and samples
};

inline constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;  // a hundred thousand ranks take less

// With its end. Ages go out instead of moments, which is why both ask for the time: share/schemas/job.schema.json says
// what a job looks like.
std::string line_of(const Answer& answer, Time now);
Result<Answer> parse_answer(std::string_view line, Time now);

// One object, over several lines when `indent` is not negative.
std::string json_of(const JobStatus& job, Time now, int indent);
// An array of them.
std::string json_of(const std::vector<JobStatus>& jobs, Time now, int indent);

}  // namespace tutti::launch::control
