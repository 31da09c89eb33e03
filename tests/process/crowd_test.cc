// Many more processes than cores, and processes that have nothing to do.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "bootstrap/store/place_for_test.h"
#include "tests/process/board.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"

namespace tutti::conformance {
namespace {

using bootstrap::TemporaryDirectory;

double cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(Crowd, OfSixtyFourProcessesMakesSteadyProgress) {
  constexpr Rank kSize = 64;
  const int calls = runs_all() ? 500 : 30;
  const TemporaryDirectory directory;
  Crew crew(kSize, [&](int rank) -> std::string {
    auto communicator = meet(rank, kSize, directory / "store", {.start = std::chrono::seconds(40)});
    if (!communicator) return spoken(communicator.status());
    for (int i = 0; i < calls; ++i) {
      const std::size_t count = i % 5 == 4 ? 50'000 : 2;
      std::vector<float> data(count, 1);
      if (const Status s = communicator->all_reduce(std::span<float>(data)); !s) return spoken(s);
      if (data != std::vector<float>(count, kSize)) return "a wrong sum";
    }
    return {};
  });
  for (const std::string& text : crew.finish(std::chrono::seconds(60))) EXPECT_EQ(text, "");
}

// The late rank comes after a second; that time is what the test is about.
TEST(Crowd, WhoWaitsForASecondUsesLittleOfIt) {
  const TemporaryDirectory directory;
  Crew crew(3, [&](int rank) -> std::string {
    auto communicator = meet(rank, 3, directory / "store");
    if (!communicator) return spoken(communicator.status());
    if (const Status first = communicator->barrier(); !first) return spoken(first);
    if (rank == 0) ::usleep(1'000'000);
    const double before = cpu_s();
    if (const Status second = communicator->barrier(); !second) return spoken(second);
    const double used = cpu_s() - before;
    return used < 0.1 ? "" : fmt::format("rank {} used {} s", rank, used);
  });
  for (const std::string& text : crew.finish()) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace tutti::conformance
