// Ranks that live and do not come: after a while, and once a call, the others warn and say what they do instead.
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "tests/process/latecomer.h"

namespace tutti::conformance {
namespace {

TEST(Late, ARankThatSleepsBetweenCallsIsNamedOnceWithItsLastCallAndPlace) {
  const Latecomer late([](int, const std::string& folder) {
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // nobody answers for it: rank 0 looks by itself
    return "file:" + folder + "store";
  });
  late.expect_warned_once();
}

TEST(Late, ARankOfAJobOverANetworkAnswersForItself) {
  const Latecomer late(Latecomer::identifier_store);
  late.expect_warned_once();
}

}  // namespace
}  // namespace tutti::conformance
