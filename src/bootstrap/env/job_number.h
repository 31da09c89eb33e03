// A number for the name of a job, the same on every machine: for what cannot hold a name of any length and letters.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::bootstrap {

// FNV-1a. Two jobs that are there at the same time have the same one by a chance of 2^-64.
constexpr std::uint64_t job_number_of(std::string_view job) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char letter : job) sum = (sum ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return sum;
}

}  // namespace tutti::bootstrap
