// A rank that waits for another host sleeps: the core is free for whoever is waited for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "bootstrap/store/place_for_test.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using std::chrono::seconds;

class Quiet : public OnHosts {};

std::string failure_of(const Status& status) { return status ? "" : spoken(status); }

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
}

// The sentence of a rank that used more of a core than one that sleeps does while it waited.
std::string awake_while(const std::function<Status()>& wait) {
  constexpr double kShareMax = 0.5;
  const double cpu_before = cpu_seconds();
  const Time begin = os::now();
  if (const Status status = wait(); !status) return spoken(status);
  const double waited = static_cast<double>(os::now().ns - begin.ns) * 1e-9;
  const double used = cpu_seconds() - cpu_before;
  if (waited < 1) return fmt::format("it waited only {:.3f} s", waited);
  return used < kShareMax * waited ? "" : fmt::format("it used {:.2f} s of a core in {:.2f} s", used, waited);
}

// For how long the others wait.
void dawdle() { ::usleep(2'000'000); }

TEST_F(Quiet, ARankThatWaitsInACollectiveUsesLittleOfACore) {
  const Lab lab = create();
  Job job(lab, {0, 1}, [](Communicator& communicator) -> std::string {
    if (const Status status = communicator.barrier(); !status) return spoken(status);
    if (communicator.rank() == 1) return awake_while([&] { return communicator.barrier(); });
    dawdle();
    return failure_of(communicator.barrier());
  });
  job.expect_success();
}

// Rank 0 has connected to rank 2 and sent to it, which that one will ask for after it has heard of rank 1.
TEST_F(Quiet, AMessageThatNobodyAsksForYetWakesNobody) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 0, 1}, [&](Communicator& communicator) -> std::string {
    std::int32_t word = communicator.rank();
    const std::span<std::int32_t> data(&word, 1);
    if (communicator.rank() == 0) {
      const Status status = communicator.send(std::span<const std::int32_t>(data), 2);
      ++board.started();
      // Its connection lasts as long as it does.
      return Board::wait_for(board.released(), 1) ? failure_of(status) : "never released";
    }
    if (communicator.rank() == 1) {
      if (!Board::wait_for(board.started(), 1)) return "rank 0 has not sent";
      dawdle();
      return failure_of(communicator.send(std::span<const std::int32_t>(data), 2));
    }
    const std::string failure = awake_while([&] { return communicator.receive(data, 1); });
    const Status status = communicator.receive(data, 0);
    ++board.released();
    return failure.empty() ? failure_of(status) : failure;
  });
  job.expect_success();
}

// The first of them has no connections to sleep on.
TEST_F(Quiet, AGroupOfACommunicatorOnAHostAndOneBeyondItSleepsToo) {
  const Lab lab = create();
  const bootstrap::TemporaryDirectory directory;
  Job job(lab, {0, 0, 1}, [&](Communicator& everybody) -> std::string {
    if (everybody.rank() == 2) {
      dawdle();
      return failure_of(everybody.barrier());
    }
    auto neighbours =
        Communicator::create({.rank = everybody.rank(), .size = 2, .store = "file:" + (directory / "neighbours")});
    if (!neighbours) return spoken(neighbours.status());
    Group group;
    group.add(*neighbours, {.collective = plan::Collective::barrier});
    group.add(everybody, {.collective = plan::Collective::barrier});
    return awake_while([&] { return group.run(); });
  });
  job.expect_success();
}

}  // namespace
}  // namespace tutti::network
