// Programs that use NCCL in one process, started by themselves.
#include <gtest/gtest.h>

#include "tests/nccl/launch.h"
#include "tests/nccl/report.h"

namespace tutti::programs {
namespace {

class OneProcess : public testing::TestWithParam<const char*> {
 protected:
  std::string program() const { return program_path(GetParam()); }
};

TEST_P(OneProcess, AddsUpOverAllDevices) {
  const Ending ending = launch_here({program()});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  expect_sums(ending.output, 8);
}

TEST_P(OneProcess, AddsUpOverSomeDevices) {
  const Ending ending = launch_here({program(), "3"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  expect_sums(ending.output, 3);
}

TEST_P(OneProcess, AddsUpOverSixtyFourDevices) {
  const Ending ending = launch_here({program()}, {{"TUTTI_VIRTUAL_DEVICES", "64"}});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  expect_sums(ending.output, 64);
}

TEST_P(OneProcess, EndsWithAWordWhereADeviceIsMissing) {
  const Ending ending = launch_here({program(), "5"}, {{"TUTTI_VIRTUAL_DEVICES", "4"}});
  EXPECT_EQ(ending.exit_code, 1) << ending.output;
  EXPECT_TRUE(std::regex_search(ending.output, std::regex("(NCCL|CUDA): .*device"))) << ending.output;
}

INSTANTIATE_TEST_SUITE_P(Programs, OneProcess, testing::Values("one_thread", "device_per_thread"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace tutti::programs
