// Many ranks of one machine that start over a network.
#include <gtest/gtest.h>

#include "tests/network/job.h"

namespace tutti::network {
namespace {

using std::chrono::seconds;

class Crowd : public OnHosts {};

TEST_F(Crowd, StartsAndMeetsInABarrierSoon) {
  const Rank size = runs_all() ? 256 : 64;
  const Lab lab = create();
  const std::vector<int> hosts(static_cast<std::size_t>(size), 0);
  const Time begin = os::now();
  Job job(lab, hosts,
          [](Communicator& communicator) {
            const Status status = communicator.barrier();
            return status ? std::string() : spoken(status);
          },
          {.times = {.start = seconds(60)}});
  job.expect_success(seconds(90));
  const double took_s = static_cast<double>(os::now().ns - begin.ns) * 1e-9;
  fmt::print("{} processes started, met and ended in {:.1f} s\n", size, took_s);
  EXPECT_LT(took_s, 30);
}

}  // namespace
}  // namespace tutti::network
