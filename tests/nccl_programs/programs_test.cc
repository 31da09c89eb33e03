// Programs that chance has written, compared with the model of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <sstream>

#include "tests/nccl_programs/run.h"
#include "tests/plans/seed.h"

namespace tutti::programs {
namespace {

// Instrumented code is slow.
#if defined(TUTTI_HAS_SANITIZER)
constexpr std::uint64_t kThreadPrograms = 12;
constexpr std::uint64_t kProcessPrograms = 2;
#else
constexpr std::uint64_t kThreadPrograms = 120;
constexpr std::uint64_t kProcessPrograms = 16;
#endif

std::uint64_t programs_of(std::uint64_t standard) {
  const char* given = std::getenv("TUTTI_PROGRAMS");
  return given == nullptr ? standard : text::integer_of<std::uint64_t>(given).value_or(standard);
}

// Numbers of steps to leave out, for finding what matters in a program that does not end: "3 5 8".
std::vector<std::size_t> steps_left_out() {
  const char* given = std::getenv("TUTTI_WITHOUT");
  std::istringstream words(given == nullptr ? "" : given);
  return {std::istream_iterator<std::size_t>(words), std::istream_iterator<std::size_t>()};
}

using Run = std::string (*)(const Chosen&);

std::string in_threads(const Chosen& chosen) { return run_in_threads(chosen.program()); }

// Leaves out every step without which it fails all the same.
Chosen shrink(Chosen chosen, Run run) {
  const std::size_t count = chosen.program().steps.size();
  for (std::size_t step = count; step-- > 0;) {
    if (!can_be_dropped(chosen.program().steps[step])) continue;
    Chosen smaller = chosen;
    smaller.dropped.push_back(step);
    if (!run(smaller).empty()) chosen = std::move(smaller);
  }
  return chosen;
}

void run_all(Validity validity, std::uint64_t count, Run run) {
  const std::uint64_t first = test_seed();
  for (std::uint64_t index = 0; index < programs_of(count); ++index) {
    const Chosen chosen{.seed = first + index, .validity = validity, .dropped = steps_left_out()};
    // For one that ends the process.
    if (std::getenv("TUTTI_SHOW_PROGRAM") != nullptr) fmt::print(stderr, "{}", text_of(chosen.program()));
    const std::string problem = run(chosen);
    if (problem.empty()) continue;
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const Chosen smaller = shrink(chosen, run);
    FAIL() << problem << "\nTUTTI_PROGRAMS=1 TUTTI_SEED=" << chosen.seed
           << " nccl_programs_test --gtest_filter=" << test->test_suite_name() << "." << test->name() << "\nwithout "
           << fmt::format("{}", smaller.dropped) << " it still says " << run(smaller) << "\n"
           << text_of(smaller.program());
  }
}

TEST(NcclPrograms, GiveWhatTheModelSaysInThreads) { run_all(Validity::valid, kThreadPrograms, in_threads); }

TEST(NcclPrograms, GiveWhatTheModelSaysInProcesses) { run_all(Validity::valid, kProcessPrograms, run_in_processes); }

TEST(NcclPrograms, GoOnAfterWrongCallsInThreads) { run_all(Validity::has_wrong_calls, kThreadPrograms, in_threads); }

TEST(NcclPrograms, GoOnAfterWrongCallsInProcesses) {
  run_all(Validity::has_wrong_calls, kProcessPrograms / 2, run_in_processes);
}

}  // namespace
}  // namespace tutti::programs

int main(int count, char** arguments) {
  ::setenv("TUTTI_VIRTUAL_DEVICES", "16", 1);
  // Wrong calls are logged; there are many of them.
  ::setenv("TUTTI_LOG", "error", 0);
  if (const auto status = tutti::programs::run_as_player(count, arguments)) return *status;
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
