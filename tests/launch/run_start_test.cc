// `tutti run` on this machine: how many ranks it starts, what each of them is told, and where their words go.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/launch/run_here.h"

namespace tutti::programs {
namespace {

class RunStart : public RunHere {};
class RunOutput : public RunHere {};
class RunInput : public RunHere {};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

TEST_F(RunStart, OneFourAndSixtyFourRanksHaveTheirPlaces) {
  for (const int size : {1, 4, 64}) {
    std::string expected;
    for (int rank = 0; rank < size; ++rank) {
      expected += fmt::format("rank {0} of {1}, {0} of {1} on {2}\n", rank, size, host_name());
    }
    EXPECT_EQ(lines_of({"-np", std::to_string(size)}, {"place"}), sorted_lines(expected));
  }
}

TEST_F(RunStart, RanksMeetAndAddUp) {
  EXPECT_EQ(lines_of({"-np", "4"}, {"sum"}),
            sorted_lines("0: the ranks add up to 6\n1: the ranks add up to 6\n2: the ranks add up to 6\n"
                         "3: the ranks add up to 6\n"));
}

// What the frameworks' own launchers would have set, for rank 1 of 2.
TEST_F(RunStart, EveryFrameworkIsToldItsPlace) {
  const std::string expected = R"(1: TUTTI_RANK=1
1: TUTTI_SIZE=2
1: TUTTI_LOCAL_RANK=1
1: TUTTI_LOCAL_SIZE=2
1: RANK=1
1: WORLD_SIZE=2
1: LOCAL_RANK=1
1: LOCAL_WORLD_SIZE=2
1: HOROVOD_RANK=1
1: HOROVOD_SIZE=2
1: HOROVOD_LOCAL_RANK=1
1: HOROVOD_LOCAL_SIZE=2
1: HOROVOD_CROSS_RANK=0
1: HOROVOD_CROSS_SIZE=1
1: OMPI_COMM_WORLD_RANK=1
1: OMPI_COMM_WORLD_SIZE=2
1: OMPI_COMM_WORLD_LOCAL_RANK=1
1: OMPI_COMM_WORLD_LOCAL_SIZE=2
1: PMI_RANK=1
1: PMI_SIZE=2
)";
  std::string names;
  for (const std::string_view line : text::split(expected, '\n')) {
    if (!line.empty()) names += fmt::format("{}{}", names.empty() ? "" : ",", line.substr(3, line.find('=') - 3));
  }
  EXPECT_EQ(lines_of({"-np", "2"}, {"show@1=" + names}), sorted_lines(expected));
}

TEST_F(RunStart, MasterAddressIsTheSameForAllAndTensorFlowHasAClusterOfFreePorts) {
  const auto lines = lines_of({"-np", "3"}, {"show=MASTER_ADDR,MASTER_PORT,TF_CONFIG"});
  ASSERT_EQ(lines.size(), 9U);
  const auto value = [&](std::size_t line) { return lines[line].substr(lines[line].find('=') + 1); };
  EXPECT_FALSE(value(0).empty());
  EXPECT_GT(std::stoi(value(1)), 0);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(value(3 * rank), value(0));
    EXPECT_EQ(value(3 * rank + 1), value(1));
    const auto config = nlohmann::json::parse(value(3 * rank + 2), nullptr, false);
    ASSERT_FALSE(config.is_discarded()) << value(3 * rank + 2);
    EXPECT_EQ(config["task"]["type"], "worker");
    EXPECT_EQ(config["task"]["index"], rank);
    const std::vector<std::string> workers = config["cluster"]["worker"];
    EXPECT_EQ(std::set<std::string>(workers.begin(), workers.end()).size(), 3U) << "each has a port of its own";
  }
}

TEST_F(RunStart, VariablesAndFolderAreThoseThatTheUserGives) {
  ASSERT_TRUE(lab::write_file(folder().file("variables"), "# mine\nFROM_FILE=2\n"));
  std::filesystem::create_directory(folder().file("inner"));
  EXPECT_EQ(lines_of({"-np", "1", "-x", "GIVEN=a b", "--env-file", "variables", "-x", "LAUNCH_TEST_MARK", "--chdir",
                      folder().file("inner")},
                     {"show=GIVEN,FROM_FILE", "folder"}),
            sorted_lines(fmt::format("0: GIVEN=a b\n0: FROM_FILE=2\n0: {}/inner\n", folder().path())));
  EXPECT_EQ(lines_of({"-np", "1"}, {"folder"}), std::vector{"0: " + folder().path()});
}

TEST_F(RunStart, HorovodrunAndTorchrunAreOtherNamesOfIt) {
  std::filesystem::create_symlink(built("tutti"), folder().file("horovodrun"));
  std::filesystem::create_symlink(built("tutti"), folder().file("torchrun"));
  const Ending horovod =
      run_program({folder().file("horovodrun"), "-np", "2", "--gloo", "-H", "localhost:2", built("job_rank"), "sum"});
  EXPECT_EQ(horovod.exit_code, 0) << horovod.output;
  EXPECT_EQ(count_of(horovod.output, "the ranks add up to 1"), 2U) << horovod.output;
  const Ending torch = run_program({folder().file("torchrun"), "--standalone", "--nproc-per-node", "2", "--no-python",
                                    built("job_rank"), "show=LOCAL_RANK"});
  EXPECT_EQ(torch.exit_code, 0) << torch.output;
  EXPECT_EQ(count_of(torch.output, "LOCAL_RANK="), 2U) << torch.output;
}

TEST_F(RunOutput, LinesHaveTheirRanksInFront) {
  EXPECT_EQ(sorted_lines(run({"-np", "2"}, {"out=1"}).output),
            (std::vector<std::string>{"[0] line 0 of rank 0", "[1] line 0 of rank 1"}));
  EXPECT_EQ(sorted_lines(run({"-np", "2", "--tag-output"}, {"out@0=1", "err@1=1"}).output),
            (std::vector<std::string>{"[1,0]<stdout>:line 0 of rank 0", "[1,1]<stderr>:line 0 of rank 1"}));
  EXPECT_EQ(sorted_lines(run({"-np", "4", "--only", "1,3", "--tag", "none"}, {"out=1"}).output),
            (std::vector<std::string>{"line 0 of rank 1", "line 0 of rank 3"}));
}

TEST_F(RunOutput, LinesStayWholeAndInOrder) {
  constexpr int kRanks = 6;
  constexpr int kLines = 3000;
  const Ending ending = run({"-np", std::to_string(kRanks)}, {fmt::format("out={}", kLines)});
  EXPECT_EQ(ending.exit_code, 0);
  std::vector<int> next(kRanks, 0);
  for (const std::string_view line : text::split(ending.output, '\n')) {
    if (line.empty()) continue;
    const auto rank = text::integer_of<std::size_t>(line.substr(1, 1));
    ASSERT_TRUE(rank && *rank < next.size()) << line;
    ASSERT_EQ(line, fmt::format("[{0}] line {1} of rank {0}", *rank, next[*rank])) << "a line was torn or lost";
    ++next[*rank];
  }
  EXPECT_EQ(next, std::vector<int>(kRanks, kLines));
}

TEST_F(RunOutput, StreamsOfTheCommandAreThoseOfTheRanks) {
  const std::string words = shell_text(run_words({"-np", "2", "--tag", "none"}, {"out@0=1", "err@1=1"}));
  EXPECT_EQ(run_program({"sh", "-c", words + " 2> /dev/null"}).output, "line 0 of rank 0\n");
  EXPECT_EQ(run_program({"sh", "-c", words + " > /dev/null"}).output, "line 0 of rank 1\n");
}

TEST_F(RunOutput, EachRankAndStreamHasAFileWhereAFolderIsGiven) {
  const Ending quiet = run({"-np", "2", "--output", "said"}, {"out=2", "err@1=1"});
  EXPECT_EQ(quiet.exit_code, 0) << quiet.output;
  EXPECT_EQ(count_of(quiet.output, "line"), 0U) << quiet.output;
  EXPECT_EQ(lab::read_file(folder().file("said/rank.0.out")), "line 0 of rank 0\nline 1 of rank 0\n");
  EXPECT_EQ(lab::read_file(folder().file("said/rank.1.out")), "line 0 of rank 1\nline 1 of rank 1\n");
  EXPECT_EQ(lab::read_file(folder().file("said/rank.1.err")), "line 0 of rank 1\n");
}

// The ranks say more than anybody reads: they wait, and neither the launcher nor the agent keeps it all.
TEST_F(RunOutput, AReaderThatStopsCostsNoMemory) {
  constexpr std::size_t kBytesEach = std::size_t{100} << 20;
  constexpr std::size_t kMemoryMax = std::size_t{64} << 20;
  const Words words = run_words({"-np", "2", "--tag", "none"}, {fmt::format("bytes={}", kBytesEach)});
  const std::string reader = "{ read line; while [ ! -e go ]; do sleep 0.1; done; wc -c; }";
  const lab::Program program{.words = {"sh", "-c", shell_text(words) + " | " + reader},
                             .environment = environment(),
                             .input = "",
                             .folder = folder().path()};
  auto shell = lab::Process::start(lab::kThisMachine, program);
  ASSERT_TRUE(shell) << shell.status().text();
  ASSERT_TRUE(comes_true([&] { return agents().size() >= 2; }));
  const auto peak = [&] {
    std::size_t most = 0;
    for (const pid_t pid : left()) most = std::max(most, memory_peak_bytes(pid));
    return most;
  };
  EXPECT_FALSE(comes_true([&] { return peak() > kMemoryMax; }, std::chrono::seconds(1)))
      << described(left()) << peak() << " bytes";
  ASSERT_TRUE(lab::write_file(folder().file("go"), ""));
  EXPECT_EQ(shell->wait(lab::kLimit), 0);
  constexpr std::size_t kFirstLine = 64;
  EXPECT_EQ(shell->output(), fmt::format("{}\n", 2 * kBytesEach - kFirstLine)) << "nothing may be lost either";
}

TEST_F(RunInput, RankZeroReadsItUnlessAllOrNoneShall) {
  ASSERT_TRUE(lab::write_file(folder().file("text"), "one\ntwo\n"));
  const auto read_by = [&](const std::string& who, const std::string& source) {
    const std::string words = shell_text(run_words({"-np", "2", "--tag", "none", "--stdin", who}, {"echo"}));
    const Ending ending = run_program({"sh", "-c", fmt::format(fmt::runtime(source), words)});
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    return sorted_lines(ending.output);
  };
  for (const char* source : {"{} < text", "cat text | {}"}) {
    EXPECT_EQ(read_by("first", source), sorted_lines("0 read one\n0 read two\n0 read all\n1 read all\n")) << source;
    EXPECT_EQ(read_by("all", source),
              sorted_lines("0 read one\n0 read two\n0 read all\n1 read one\n1 read two\n1 read all\n"))
        << source;
  }
  EXPECT_EQ(read_by("none", "{} < text"), sorted_lines("0 read all\n1 read all\n"));
}

TEST_F(RunInput, ARankThatReadsNothingDoesNotKeepTheJob) {
  const std::string words = shell_text(run_words({"-np", "2"}, {"out=1"}));
  const Ending ending = run_program({"sh", "-c", "yes | " + words});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(sorted_lines(ending.output), (std::vector<std::string>{"[0] line 0 of rank 0", "[1] line 0 of rank 1"}));
}

}  // namespace
}  // namespace tutti::programs
