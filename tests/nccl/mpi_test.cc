// Programs that use NCCL and MPI, started by the launchers of both MPIs, on this machine and on two virtual hosts.
#include <gtest/gtest.h>

#include "tests/nccl/launch.h"
#include "tests/nccl/report.h"

namespace tutti::programs {
namespace {

using lab::Lab;

class Mpi : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(TUTTI_MPIS).find(" " + mpi()) != std::string::npos) return;
    GTEST_SKIP() << mpi() << " was not here when this was configured (Debian: openmpi-bin libopenmpi-dev, mpich "
                 << "libmpich-dev); see the messages of cmake";
  }
  static std::string mpi() { return GetParam(); }
  static std::string program(const std::string& name) { return program_path(name + "_" + mpi()); }
};

TEST_P(Mpi, AddsUpWithOneDevicePerProcess) {
  for (const int processes : {2, 4}) {
    const Ending ending = launch_mpi(mpi(), {.processes = processes}, {program("device_per_process")});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    expect_sums(ending.output, processes);
    EXPECT_NE(ending.output.find(fmt::format("{} processes, 1 host:", processes)), std::string::npos) << ending.output;
  }
}

TEST_P(Mpi, AddsUpWithSeveralDevicesPerProcess) {
  for (const int processes : {2, 4}) {
    const Ending ending = launch_mpi(mpi(), {.processes = processes}, {program("several_devices_per_process")},
                                     {{"TUTTI_VIRTUAL_DEVICES", "16"}});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    expect_sums(ending.output, processes * 4);
  }
}

TEST_P(Mpi, EndsEveryProcessWhereADeviceIsMissing) {
  const Ending ending =
      launch_mpi(mpi(), {.processes = 4}, {program("several_devices_per_process")}, {{"TUTTI_VIRTUAL_DEVICES", "15"}});
  EXPECT_GT(ending.exit_code, 0) << ending.output;
  EXPECT_NE(ending.output.find("CUDA: "), std::string::npos) << ending.output;
}

class MpiOnTwoHosts : public Mpi {
 protected:
  void SetUp() override {
    Mpi::SetUp();
    if (IsSkipped()) return;
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
  // Four devices on each host; nothing may be left on the hosts.
  static Ending launch_on_two_hosts(int processes, const std::string& name) {
    const auto lab = Lab::create({.host_count = 2});
    if (!lab) return {-1, std::string(lab.status().text())};
    const Ending ending =
        launch_mpi(mpi(), {.processes = processes, .lab = &*lab}, {program(name)}, {{"TUTTI_VIRTUAL_DEVICES", "4"}});
    EXPECT_TRUE(lab->clear(kGrace)) << "something was still running: " << ending.output;
    return ending;
  }
};

TEST_P(MpiOnTwoHosts, AddsUpWithOneDevicePerProcess) {
  const Ending ending = launch_on_two_hosts(4, "device_per_process");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  expect_sums(ending.output, 4);
  EXPECT_EQ(places_in(ending.output), "host0 0, host0 1, host1 0, host1 1") << ending.output;
}

TEST_P(MpiOnTwoHosts, AddsUpWithFourDevicesPerProcess) {
  const Ending ending = launch_on_two_hosts(2, "several_devices_per_process");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  expect_sums(ending.output, 8);
  EXPECT_EQ(places_in(ending.output), "host0 0, host0 1, host0 2, host0 3, host1 0, host1 1, host1 2, host1 3")
      << ending.output;
  EXPECT_NE(ending.output.find("2 processes, 2 hosts: all sums are right\n"), std::string::npos) << ending.output;
}

const auto kMpis = testing::Values("openmpi", "mpich");
std::string name_of(const testing::TestParamInfo<const char*>& parameter) { return parameter.param; }
INSTANTIATE_TEST_SUITE_P(Programs, Mpi, kMpis, name_of);
INSTANTIATE_TEST_SUITE_P(Programs, MpiOnTwoHosts, kMpis, name_of);

}  // namespace
}  // namespace tutti::programs
