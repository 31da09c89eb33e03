#include "sim/seeds.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "base/random.h"
#include "base/text.h"

namespace tutti::sim {
namespace {

std::optional<std::uint64_t> number_from(const char* name) {
  const char* given = std::getenv(name);
  return given == nullptr ? std::nullopt : text::integer_of<std::uint64_t>(given);
}

}  // namespace

std::string run_seeds(std::string_view program, std::string_view test, int count,
                      const std::function<std::string(std::uint64_t seed)>& trial) {
  const auto only = number_from("TUTTI_SIM_SEED");
  Random seeds(number_from("TUTTI_SEED").value_or(1));
  for (int index = 0; index < (only ? 1 : count); ++index) {
    const std::uint64_t seed = only ? *only : seeds.next() >> 32;  // short enough to be typed
    const std::string fault = trial(seed);
    if (!fault.empty())
      return fmt::format("{}\nrepeat it with: TUTTI_SIM_SEED={} {} --gtest_filter={}", fault, seed, program, test);
  }
  return {};
}

}  // namespace tutti::sim
