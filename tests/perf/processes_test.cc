// Tools of several processes, with every launcher's variables and with none of their launchers.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <regex>
#include <set>

#include "os/clock.h"
#include "os/file_descriptor.h"
#include "tests/perf/tool_run.h"

namespace tutti::perf {
namespace {

constexpr std::chrono::milliseconds kLook(20);
const std::string kSmall = "-b 1K -e 4K -f 2 -n 2 ";

// A port that nobody has: the system chooses it.
int free_port() {
  const os::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

// As torchrun would start them; each job has its own name.
Environment torch_variables(int rank, int size, const std::string& job) {
  return {{"RANK", std::to_string(rank)},       {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "127.0.0.1"},         {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", job}};
}

class Processes : public testing::Test {
 protected:
  std::string job() const {
    return fmt::format("perf-{}-{}", getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
  }

  void start(const std::string& name, const std::string& line, int rank, Environment environment,
             const Environment& more) {
    Words words = {tool_path(name)};
    for (const std::string_view word : text::words(line)) words.emplace_back(word);
    environment.insert(more.begin(), more.end());
    auto process = lab::Process::start(lab::kThisMachine, {.words = words, .environment = environment});
    ASSERT_TRUE(process) << process.status().text();
    processes_.emplace(rank, *std::move(process));
  }
  void start_torch(const std::string& name, const std::string& line, int size, const Environment& more = {}) {
    for (int rank = 0; rank < size; ++rank) start(name, line, rank, torch_variables(rank, size, job()), more);
  }

  Ending ending(int rank) {
    lab::Process& process = processes_.at(rank);
    const auto code = process.wait(kLimit);
    return {code.value_or(kOvertime), process.output()};
  }
  std::vector<Ending> endings() {
    std::vector<Ending> all;
    for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) all.push_back(ending(rank));
    return all;
  }
  // The first speaks, the others are silent.
  void expect_all_right(std::size_t row_count) {
    const auto all = endings();
    expect_right(all[0], row_count);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      EXPECT_EQ(all[rank].exit_code, 0) << all[rank].output;
      EXPECT_EQ(all[rank].output, "") << rank;
    }
  }
  bool wait_for(int rank, std::string_view part) {
    const Deadline deadline = Deadline::after(os::now(), kLimit);
    lab::Process& process = processes_.at(rank);
    while (process.output().find(part) == std::string::npos) {
      if (deadline.has_passed(os::now()) || process.wait(kLook)) return false;
    }
    return true;
  }

  std::map<int, lab::Process> processes_;
};

TEST_F(Processes, MeetByTheVariablesOfTorchrun) {
  start_torch("all_reduce", kSmall, 2);
  expect_all_right(3);
}

TEST_F(Processes, MeetByTheVariablesOfTuttiRun) {
  const std::string store = fmt::format("tcp:127.0.0.1:{}", free_port());
  for (int rank = 0; rank < 3; ++rank) {
    start("all_gather", kSmall, rank,
          {{"TUTTI_RANK", std::to_string(rank)}, {"TUTTI_SIZE", "3"}, {"TUTTI_STORE", store}}, {});
  }
  expect_all_right(3);
}

TEST_F(Processes, HaveThreadsAndDevicesEach) {
  start_torch("all_reduce", kSmall + "-t 2 -g 2", 2);
  const auto all = endings();
  expect_right(all[0], 3);
  EXPECT_EQ(count_in(all[0].output, "#  Rank "), 8u) << all[0].output;
  EXPECT_TRUE(all[0].says("device  7 [")) << all[0].output;
}

TEST_F(Processes, StartTheirThreadsSideBySide) {
  start_torch("reduce_scatter", kSmall + "-t 2 -g 2 -p 1 -o all", 2);
  expect_all_right(18);
}

TEST_F(Processes, AreCheckedInEveryTypeAndOperation) {
  start_torch("all_reduce", "-b 1000 -e 1000 -n 1 -w 0 -d all -o all", 3);
  expect_all_right(72);
}

TEST_F(Processes, AreSplitIntoGroups) {
  start_torch("all_reduce", kSmall, 4, {{"NCCL_TESTS_SPLIT", "MOD 2"}});
  const auto all = endings();
  expect_right(all[0], 3);
  const std::regex seat("#  Rank +(\\d+) Group +(\\d+) ");
  std::map<std::string, std::string> groups;
  for (std::sregex_iterator at(all[0].output.begin(), all[0].output.end(), seat), end; at != end; ++at)
    groups[at->str(1)] = at->str(2);
  EXPECT_EQ(groups, (std::map<std::string, std::string>{{"0", "0"}, {"1", "1"}, {"2", "0"}, {"3", "1"}}))
      << all[0].output;
}

TEST_F(Processes, AreSplitByAMask) {
  start_torch("sendrecv", kSmall, 4, {{"NCCL_TESTS_SPLIT_MASK", "0x2"}});
  const auto all = endings();
  expect_right(all[0], 3);
  EXPECT_EQ(count_in(all[0].output, "Group  2"), 2u) << all[0].output;
}

TEST_F(Processes, AGroupOfItsOwnForEveryProcessWorks) {
  start_torch("all_reduce", kSmall, 3, {{"NCCL_TESTS_SPLIT", "MOD 3"}});
  expect_all_right(3);
}

TEST_F(Processes, ASplitThatMakesNoSenseEndsAllOfThem) {
  start_torch("all_reduce", kSmall, 2, {{"NCCL_TESTS_SPLIT", "XOR 2"}});
  for (const Ending& one : endings()) {
    EXPECT_EQ(one.exit_code, 2) << one.output;
    EXPECT_TRUE(one.says("NCCL_TESTS_SPLIT='XOR 2'")) << one.output;
  }
}

TEST_F(Processes, MayShareADevice) {
  start_torch("all_reduce", kSmall, 2, {{"NCCL_TESTS_DEVICE", "3"}});
  const auto all = endings();
  EXPECT_EQ(count_in(all[0].output, "device  3 ["), 2u) << all[0].output;
  for (const Ending& one : all) EXPECT_NE(one.exit_code, kOvertime) << one.output;
}

TEST_F(Processes, TooManyOfThemEndWithAWord) {
  start_torch("all_reduce", kSmall + "-g 5", 2);
  const auto all = endings();
  EXPECT_EQ(all[1].exit_code, 5) << all[1].output;
  EXPECT_TRUE(all[1].says("10 devices are needed on this host, but there are 8")) << all[1].output;
  EXPECT_EQ(all[0].exit_code, 3) << all[0].output;
  EXPECT_TRUE(all[0].says("process 1 has failed; it says why")) << all[0].output;
}

TEST_F(Processes, AFileThatCannotBeWrittenEndsAllOfThem) {
  start_torch("all_reduce", kSmall + "-J /nowhere/x.json", 2);
  const auto all = endings();
  EXPECT_EQ(all[0].exit_code, 2) << all[0].output;
  EXPECT_EQ(all[1].exit_code, 3) << all[1].output;
  EXPECT_TRUE(all[1].says("process 0 has failed; it says why")) << all[1].output;
}

TEST_F(Processes, ThatAreKilledAreNamedByTheOthers) {
  start_torch("all_reduce", "-b 1K -e 1K -n 2 -N 0", 3, {{"TUTTI_SILENCE", "2s"}});
  ASSERT_TRUE(wait_for(0, "        1024           256     float")) << processes_.at(0).output();
  processes_.at(1).send(SIGKILL);
  for (const int rank : {0, 2}) {
    const Ending one = ending(rank);
    EXPECT_EQ(one.exit_code, 3) << one.output.substr(one.output.size() - std::min<std::size_t>(one.output.size(), 500));
    EXPECT_TRUE(std::regex_search(one.output, std::regex("all_reduce_perf: .*rank 1[^0-9].*"))) << rank;
  }
}

TEST_F(Processes, HalfOfALauncherIsNamed) {
  const Ending one = perf("all_reduce", kSmall, {{"TUTTI_RANK", "0"}});
  EXPECT_EQ(one.exit_code, 2) << one.output;
  EXPECT_TRUE(one.says("TUTTI_SIZE")) << one.output;
}

class Launchers : public testing::TestWithParam<const char*> {};

TEST_P(Launchers, StartThemAsTheyAre) {
  const std::string mpi = GetParam();
  if (std::string(TUTTI_MPIS).find(" " + mpi) == std::string::npos)
    GTEST_SKIP() << mpi << " was not here when this was configured, or this is built with instruments";
  Words words = mpi == "openmpi"
                    ? Words{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}
                    : Words{"mpiexec.mpich"};
  words.insert(words.end(), {"-np", "2", tool_path("all_reduce"), "-b", "1K", "-e", "1K", "-n", "2", "-g", "2"});
  const Ending ending = run(words);
  expect_right(ending, 1);
  EXPECT_EQ(count_in(ending.output, "#  Rank "), 4u) << ending.output;
}

INSTANTIATE_TEST_SUITE_P(Mpi, Launchers, testing::Values("openmpi", "mpich"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace tutti::perf
