#include "tools/tutti/check/limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/clock.h"
#include "tools/tutti/check/machine.h"
#include "tools/tutti/check/program.h"

namespace tutti::tool::check {
namespace {

namespace fs = std::filesystem;

class CheckFolder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(testing::TempDir()) / ("tutti-check-" + std::to_string(::getpid()));
    fs::create_directories(path_);
  }
  void TearDown() override { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

TEST(Limits, LittleLockedMemoryMattersWithRdmaOnly) {
  Limits limits{.locked_bytes = 8 << 20};
  EXPECT_EQ(find_locked_memory(limits).state, State::good);
  limits.has_rdma = true;
  EXPECT_EQ(find_locked_memory(limits).state, State::slower);
  EXPECT_NE(find_locked_memory(limits).remedy, "");
  limits.locked_bytes.reset();
  EXPECT_EQ(find_locked_memory(limits).state, State::good);
  EXPECT_EQ(find_locked_memory(limits).text, "unlimited");
}

TEST(Limits, FewOpenFilesAreToldWithWhatRaisesThem) {
  Limits limits{.open_files = 1024, .open_files_max = 524'288};
  EXPECT_EQ(find_open_files(limits).state, State::slower);
  EXPECT_EQ(find_open_files(limits).remedy, "ulimit -n 524288");
  limits.open_files_max = 1024;
  EXPECT_NE(find_open_files(limits).remedy.find("limits.d"), std::string::npos);
  limits.open_files = 65'536;
  EXPECT_EQ(find_open_files(limits).state, State::good);
}

TEST(Limits, ASmallOrAbsentShmIsTold) {
  EXPECT_EQ(find_shm({}).state, State::slower);
  EXPECT_EQ(find_shm({.shm_bytes = 64 << 20}).state, State::slower);
  EXPECT_EQ(find_shm({.shm_bytes = std::uint64_t{8} << 30}).state, State::good);
}

TEST(Limits, StrictOvercommitAndFewProcessesAreTold) {
  EXPECT_EQ(find_overcommit({.overcommit = "2"}).state, State::slower);
  EXPECT_EQ(find_overcommit({.overcommit = "1"}).state, State::good);
  EXPECT_EQ(find_processes_limit({.processes = 100}).state, State::slower);
  EXPECT_EQ(find_processes_limit({}).state, State::good);
}

TEST(Limits, AClockThatNobodyKeepsIsTold) {
  EXPECT_EQ(find_clock(ClockState::free).state, State::slower);
  EXPECT_EQ(find_clock(ClockState::synchronised).state, State::good);
  EXPECT_EQ(find_clock(ClockState::unknown).state, State::good);
}

TEST_F(CheckFolder, MemoryOfAControlGroupIsTheLeastOnTheWayUp) {
  write("job/step/memory.max", "max\n");
  write("job/memory.max", "1073741824\n");
  write("memory.max", "2147483648\n");
  EXPECT_EQ(memory_limit(path(), "0::/job/step\n"), 1073741824u);
  EXPECT_EQ(memory_limit(path(), "0::/\n"), 2147483648u);
  EXPECT_EQ(memory_limit(path("nowhere"), "0::/job\n"), std::nullopt);
  EXPECT_EQ(memory_limit(path(), "nonsense"), std::nullopt);
}

TEST_F(CheckFolder, GpusAreThoseOfTheDriverThatTheProcessMayOpen) {
  EXPECT_EQ(text_of(find_gpus(path("proc"), path("dev"))), "none");
  write("proc/gpus/0000:01:00.0/information", "Model: \t NVIDIA H100 80GB HBM3\nIRQ: 5\n");
  write("proc/gpus/0000:02:00.0/information", "Model: \t NVIDIA H100 80GB HBM3\nIRQ: 6\n");
  write("proc/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\nGCC 12.2.0\n");
  write("dev/nvidia0", "");
  write("dev/nvidiactl", "");
  const Gpus gpus = find_gpus(path("proc"), path("dev"));
  EXPECT_EQ(gpus.listed, 2);
  EXPECT_EQ(gpus.usable, 1);
  EXPECT_EQ(gpus.driver, "550.54.15");
  EXPECT_EQ(text_of(gpus), "1 NVIDIA H100 80GB HBM3");
}

Deadline soon(std::chrono::milliseconds wait = std::chrono::seconds(30)) { return Deadline::after(os::now(), wait); }

TEST(Program, KeepsWhatItSaysAndHowItEnds) {
  const auto end = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, soon());
  ASSERT_TRUE(end) << end.status().text();
  EXPECT_EQ(end->out, "out\n");
  EXPECT_EQ(end->err, "err\n");
  EXPECT_EQ(end->end.code, 3);
  EXPECT_FALSE(end->is_late);
}

TEST(Program, IsKilledAtItsDeadlineWithItsChildren) {
  const Time begin = os::now();
  const auto end = run_program({"sh", "-c", "sleep 100 & wait"}, soon(std::chrono::milliseconds(100)));
  ASSERT_TRUE(end) << end.status().text();
  EXPECT_TRUE(end->is_late);
  EXPECT_LT(os::now().ns - begin.ns, 30'000'000'000u);
}

TEST(Program, ThatDoesNotExistIsAFailure) { EXPECT_FALSE(run_program({"tutti-no-such-program"}, soon())); }

TEST(Program, FloodsAreCut) {
  const auto end = run_program({"sh", "-c", "head -c 1000000 /dev/zero"}, soon());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->out.size(), kProgramOutputBytesMax);
}

}  // namespace
}  // namespace tutti::tool::check
