#include "launch/output/printer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "base/bytes.h"
#include "base/random.h"
#include "launch/output/target.h"
#include "launch/output/writer.h"
#include "os/clock.h"

namespace tutti::launch {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A reader of what is printed, which reads only while the loop runs and only when it is told to.
class Reader {
 public:
  Reader(os::EventLoop& loop, int read_fd, int write_fd) : loop_(loop), read_(read_fd), write_(write_fd) {
    ::fcntl(read_.get(), F_SETFL, O_NONBLOCK);
  }
  ~Reader() { loop_.unwatch(watch_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  int fd() const { return write_.get(); }
  void start() {
    auto watch = loop_.watch(read_.get(), os::kReadable, [this] { take(); });
    ASSERT_TRUE(watch.is_ok());
    watch_ = *watch;
  }
  void leave() {
    loop_.unwatch(watch_);
    read_.close();
  }
  const std::string& text() {
    take();
    return text_;
  }

 private:
  void take() {
    std::array<char, 65536> space;
    ssize_t count = 0;
    while ((count = ::read(read_.get(), space.data(), space.size())) > 0)
      text_.append(space.data(), static_cast<std::size_t>(count));
  }

  os::EventLoop& loop_;
  os::FileDescriptor read_;
  os::FileDescriptor write_;
  os::EventLoop::Watch watch_;
  std::string text_;
};

class PrinterTest : public testing::Test {
 protected:
  PrinterTest() : loop(std::move(*os::EventLoop::create())) {
    std::string pattern = (fs::temp_directory_path() / "tutti-printer-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    out = create_pipe();
    err = create_pipe();
  }
  ~PrinterTest() override {
    printer.reset();
    fs::remove_all(folder);
  }

  std::unique_ptr<Reader> create_pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return std::make_unique<Reader>(*loop, ends[0], ends[1]);
  }
  Status open(const OutputSettings& settings, Rank size) { return open(settings, size, {out->fd(), err->fd()}); }
  Status open(const OutputSettings& settings, Rank size, Console console) {
    auto created = Printer::create(
        *loop, settings, size, [this] { ++rooms; }, console);
    if (created) printer = *std::move(created);
    return created.status();
  }
  void print(Rank rank, Stream stream, std::string_view text) { printer->print(rank, stream, bytes_of(text)); }
  bool run_until(const std::function<bool()>& is_done) {
    return loop->run_until(is_done, Deadline::after(os::now(), seconds(30)));
  }
  bool finish() {
    return run_until([this] { return printer->is_written(); });
  }

  std::unique_ptr<os::EventLoop> loop;
  std::string folder;
  std::unique_ptr<Reader> out;
  std::unique_ptr<Reader> err;
  std::unique_ptr<Printer> printer;
  int rooms = 0;
};

TEST_F(PrinterTest, StreamsGoWhereTheyBelong) {
  ASSERT_TRUE(open({}, 12));
  print(3, Stream::out, "one\ntw");
  print(11, Stream::err, "bad\n");
  print(3, Stream::out, "o\nlast");
  printer->end(3);
  printer->say("the job is over");
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), "[ 3] one\n[ 3] two\n[ 3] last\n");
  EXPECT_EQ(err->text(), "[11] bad\nthe job is over\n");
  EXPECT_TRUE(printer->failure());
}

TEST_F(PrinterTest, OneForBothKeepsTheOrder) {
  ASSERT_TRUE(open({.tag = Tag::open_mpi}, 2, {out->fd(), out->fd()}));
  std::string expected;
  for (int round = 0; round < 100; ++round) {
    print(0, Stream::out, "a\n");
    print(1, Stream::err, "b\n");
    printer->say("c");
    expected += "[1,0]<stdout>:a\n[1,1]<stderr>:b\nc\n";
  }
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), expected);
}

TEST_F(PrinterTest, ARankThatIsAloneIsPassedOnAtOnce) {
  ASSERT_TRUE(open({.tag = Tag::none}, 1));
  print(0, Stream::out, "name? ");
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), "name? ");
  print(0, Stream::err, "\r10%\r20%");
  ASSERT_TRUE(finish());
  EXPECT_EQ(err->text(), "\r10%\r20%");
}

TEST_F(PrinterTest, WhatTheLauncherSaysBeginsALine) {
  ASSERT_TRUE(open({}, 1, {out->fd(), out->fd()}));
  print(0, Stream::out, "name? ");
  print(0, Stream::err, "warning\n");
  print(0, Stream::out, "name? ");
  printer->say("ending");
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), "[0] name? \n[0] warning\n[0] name? \nending\n");
}

TEST_F(PrinterTest, OnlySomeRanksAreShown) {
  ASSERT_TRUE(open({.folder = folder, .also_prints = true, .only = {0, 2}}, 3));
  for (Rank rank = 0; rank < 3; ++rank) print(rank, Stream::out, "hi\n");
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), "[0] hi\n[2] hi\n");
  EXPECT_EQ(contents_of(folder + "/rank.1.out"), "hi\n");
}

TEST_F(PrinterTest, RanksThatDoNotExistAreDropped) {
  ASSERT_TRUE(open({}, 2));
  print(2, Stream::out, "x\n");
  print(-1, Stream::out, "x\n");
  printer->end(7);
  EXPECT_TRUE(printer->last_lines(9).empty());
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text(), "");
}

TEST_F(PrinterTest, TimesComeFirst) {
  ASSERT_TRUE(open({.has_timestamps = true, .folder = folder, .also_prints = true}, 2));
  print(1, Stream::out, "a\nb\n");
  ASSERT_TRUE(finish());
  const std::string stamp = R"(\d\d:\d\d:\d\d\.\d\d\d )";
  EXPECT_TRUE(std::regex_match(out->text(), std::regex(stamp + "\\[1\\] a\n" + stamp + "\\[1\\] b\n"))) << out->text();
  EXPECT_TRUE(std::regex_match(contents_of(folder + "/rank.1.out"), std::regex(stamp + "a\n" + stamp + "b\n")));
}

TEST_F(PrinterTest, FilesHaveEveryByteAndTheConsoleNothing) {
  ASSERT_TRUE(open({.folder = folder + "/new/deep"}, 2));
  for (const char* name : {"rank.0.out", "rank.0.err", "rank.1.out", "rank.1.err"})
    EXPECT_EQ(contents_of(folder + "/new/deep/" + name), "");
  print(0, Stream::out, "a\r\n\r10%\r");
  print(0, Stream::err, "no end");
  printer->end(0);
  printer->say("done");
  ASSERT_TRUE(finish());
  EXPECT_EQ(contents_of(folder + "/new/deep/rank.0.out"), "a\r\n\r10%\r");
  EXPECT_EQ(contents_of(folder + "/new/deep/rank.0.err"), "no end");
  EXPECT_EQ(out->text(), "");
  EXPECT_EQ(err->text(), "done\n");
}

TEST_F(PrinterTest, FilesAreNamedAsHorovodDoes) {
  ASSERT_TRUE(open({.folder = folder, .file_names = FileNames::horovod}, 11));
  print(3, Stream::out, "a\n");
  print(10, Stream::err, "b\n");
  ASSERT_TRUE(finish());
  EXPECT_EQ(contents_of(folder + "/rank.03/stdout"), "a\n");
  EXPECT_EQ(contents_of(folder + "/rank.10/stderr"), "b\n");
}

TEST_F(PrinterTest, MoreFilesThanMayBeOpen) {
  constexpr Rank kRanks = 300;
  ASSERT_TRUE(open({.folder = folder}, kRanks));
  for (int round = 0; round < 3; ++round)
    for (Rank rank = 0; rank < kRanks; ++rank) print(rank, Stream::out, std::to_string(rank) + "\n");
  ASSERT_TRUE(finish());
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const std::string line = std::to_string(rank) + "\n";
    ASSERT_EQ(contents_of(folder + "/rank." + std::to_string(rank) + ".out"), line + line + line);
  }
}

TEST_F(PrinterTest, AFolderThatCannotBeIsNamed) {
  std::ofstream(folder + "/file") << "x";
  const Status status = open({.folder = folder + "/file/below"}, 2);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.text().find(folder + "/file/below"), std::string_view::npos) << status.text();
  EXPECT_NE(status.text().find("--output"), std::string_view::npos) << status.text();
}

TEST_F(PrinterTest, AFullDiskIsNamedAndStopsNobody) {
  fs::create_symlink("/dev/full", folder + "/rank.1.out");
  ASSERT_TRUE(open({.folder = folder}, 2));
  const std::string much(1 << 20, 'x');
  for (int piece = 0; piece < 40; ++piece) {
    print(1, Stream::out, much);
    ASSERT_TRUE(run_until([this] { return !printer->is_full(); }));
  }
  print(0, Stream::out, "fine\n");
  ASSERT_TRUE(finish());
  EXPECT_NE(printer->failure().text().find(folder + "/rank.1.out"), std::string_view::npos);
  EXPECT_NE(printer->failure().text().find("No space left"), std::string_view::npos);
  EXPECT_EQ(contents_of(folder + "/rank.0.out"), "fine\n");
  EXPECT_TRUE(run_until([this] { return rooms > 0; }));
}

TEST_F(PrinterTest, AReaderThatHasGoneIsSaidAndStopsNobody) {
  ASSERT_TRUE(open({}, 2));
  out->leave();
  const std::string line = std::string(1023, 'x') + "\n";
  for (int piece = 0; piece < 30'000; ++piece) {
    print(0, Stream::out, line);
    ASSERT_TRUE(!printer->is_full() || run_until([this] { return !printer->is_full(); }));
  }
  printer->say("ending");
  ASSERT_TRUE(finish());
  EXPECT_TRUE(run_until([this] { return rooms > 0; }));
  EXPECT_EQ(printer->failure().code(), Code::peer_lost);
  EXPECT_NE(printer->failure().text().find("stdout"), std::string_view::npos);
  EXPECT_EQ(err->text(), "ending\n");
}

TEST_F(PrinterTest, ASlowReaderBlocksNobodyAndLosesNothing) {
  ASSERT_TRUE(open({.tag = Tag::none}, 2));
  const std::string line = std::string(999, 'x') + "\n";
  std::size_t lines = 0;
  while (!printer->is_full()) {
    print(0, Stream::out, line);
    ASSERT_LT(++lines, 64u << 10) << "the queue has no limit";
  }
  EXPECT_FALSE(printer->is_written());
  EXPECT_EQ(rooms, 0);
  out->start();
  ASSERT_TRUE(run_until([this] { return rooms > 0; }));
  EXPECT_FALSE(printer->is_full());
  ASSERT_TRUE(finish());
  EXPECT_EQ(out->text().size(), lines * line.size());
}

TEST_F(PrinterTest, AReaderThatStandsStillDoesNotKeepItForEver) {
  ASSERT_TRUE(open({}, 2));
  while (!printer->is_full()) print(0, Stream::out, std::string(1023, 'x') + "\n");
  const Time begin = os::now();
  printer.reset();
  EXPECT_LT(os::now().ns - begin.ns, 20'000'000'000u);
}

TEST_F(PrinterTest, DescriptorsOfOthersStayAsTheyWere) {
  const int before = ::fcntl(out->fd(), F_GETFL);
  ASSERT_TRUE(open({}, 2));
  print(0, Stream::out, "x\n");
  ASSERT_TRUE(finish());
  EXPECT_EQ(::fcntl(out->fd(), F_GETFL), before);
}

TEST_F(PrinterTest, SocketsAreWrittenToo) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  Reader socket(*loop, ends[0], ends[1]);
  ASSERT_TRUE(open({.tag = Tag::none}, 2, {socket.fd(), err->fd()}));
  std::size_t bytes = 0;
  const std::string line = std::string(999, 'x') + "\n";
  while (!printer->is_full()) {
    print(0, Stream::out, line);
    bytes += line.size();
  }
  socket.start();
  ASSERT_TRUE(finish());
  EXPECT_EQ(socket.text().size(), bytes);
}

TEST_F(PrinterTest, RegularFilesAreContinuedWhereTheyAre) {
  const std::string path = folder + "/log";
  std::ofstream(path) << "before\n";
  const os::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ASSERT_TRUE(open({}, 2, {file.get(), file.get()}));
  print(0, Stream::out, "x\n");
  printer->say("over");
  ASSERT_TRUE(finish());
  EXPECT_EQ(contents_of(path), "before\n[0] x\nover\n");
}

TEST_F(PrinterTest, TerminalsHaveColours) {
  const os::FileDescriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master.is_open() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0)
    GTEST_SKIP() << "no terminals";
  const os::FileDescriptor terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal.is_open());
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  ASSERT_TRUE(open({}, 2, {terminal.get(), terminal.get()}));
  print(0, Stream::out, "x\n");
  ASSERT_TRUE(finish());
  std::array<char, 100> space{};
  const ssize_t count = ::read(master.get(), space.data(), space.size());
  EXPECT_EQ(std::string_view(space.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))),
            "\033[38;5;32m[0]\033[0m x\r\n");
}

TEST_F(PrinterTest, KnowsTheLastLinesOfARank) {
  ASSERT_TRUE(open({.only = {0}}, 2));
  print(1, Stream::out, "out\n");
  print(1, Stream::err, "\033[31mTraceback\033[0m\n  Error");
  EXPECT_EQ(printer->last_lines(1), (std::vector<std::string>{"Traceback", "  Error"}));
}

// Pieces of lines of many ranks, drawn at random, over a reader that comes and goes: every line is whole, and those of
// a rank come in their order.
TEST_F(PrinterTest, LinesAreNeverBroken) {
  constexpr Rank kRanks = 12;
  Random random(7);
  ASSERT_TRUE(open({.tag = Tag::rank}, kRanks));
  std::map<Rank, std::string> given;
  std::map<Rank, std::string> rest;
  out->start();
  for (int round = 0; round < 20'000; ++round) {
    const auto rank = static_cast<Rank>(random.below(kRanks));
    if (rest[rank].empty())
      rest[rank] = std::string(random.below(200), static_cast<char>('a' + rank)) + std::to_string(round) + "\n";
    const std::string piece = rest[rank].substr(0, 1 + random.below(300));
    rest[rank].erase(0, piece.size());
    given[rank] += piece;
    print(rank, Stream::out, piece);
    ASSERT_TRUE(!printer->is_full() || run_until([this] { return !printer->is_full(); }));
  }
  for (Rank rank = 0; rank < kRanks; ++rank) printer->end(rank);
  ASSERT_TRUE(finish());
  std::map<Rank, std::string> shown;
  std::istringstream lines(out->text());
  for (std::string line; std::getline(lines, line);) {
    ASSERT_EQ(line.front(), '[');
    shown[static_cast<Rank>(std::stoi(line.substr(1)))] += line.substr(5) + "\n";
  }
  for (auto& [rank, text] : given) {
    if (!text.ends_with('\n')) text += '\n';
    EXPECT_EQ(shown[rank], text);
  }
}

}  // namespace
}  // namespace tutti::launch
