#include "os/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>

#include "os/clock.h"

namespace tutti::os {
namespace {

constexpr int kWaitMs = 30'000;

ProcessEnd wait_for(ChildProcess& child) {
  pollfd ended{.fd = child.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, kWaitMs), 1);
  return child.try_wait().value_or(ProcessEnd{.code = -1});
}

// What the child writes to its stdout until it ends.
std::string output_of(ChildSettings settings) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  settings.output = writer.get();
  auto child = ChildProcess::start(settings);
  if (!child) return std::string(child.status().text());
  writer.close();
  std::string text;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while ((got = ::read(reader.get(), part.data(), part.size())) > 0) text.append(part.data(), static_cast<size_t>(got));
  EXPECT_EQ(wait_for(*child), ProcessEnd{});
  return text;
}

ChildSettings shell(const std::string& script) {
  return {.words = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}};
}

std::string failure_of(const ChildSettings& settings) {
  const auto child = ChildProcess::start(settings);
  return child ? "it started" : std::string(child.status().text());
}

TEST(ChildProcess, HasWordsEnvironmentAndFolderAsGiven) {
  ChildSettings settings = shell("echo \"$1|$A|$HOME|$(pwd)\"");
  settings.words.insert(settings.words.end(), {"name", "a b"});
  settings.environment.push_back("A=x=y");
  settings.folder = "/usr";
  EXPECT_EQ(output_of(settings), "a b|x=y||/usr\n");
}

TEST(ChildProcess, HasNoOtherDescriptors) {
  const FileDescriptor leaking(::open("/dev/null", O_RDONLY));                                  // not closed by exec
  EXPECT_EQ(output_of({.words = {"ls", "/proc/self/fd"}, .environment = {}}), "0\n1\n2\n3\n");  // 3 is that of ls
}

TEST(ChildProcess, HasUsualSignalsAndAGroupOfItsOwn) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const std::string text = output_of(shell("grep -E 'SigBlk|SigIgn' /proc/self/status; ps -o pgid= -p $$; echo $$"));
  std::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(text.starts_with("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n")) << text;
}

TEST(ChildProcess, LeadsItsGroupAndDiesByItsSignal) {
  auto child = ChildProcess::start(shell("sleep 60 & wait"));
  ASSERT_TRUE(child) << child.status().text();
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
  EXPECT_FALSE(child->try_wait());
  child->signal_group(SIGTERM);
  EXPECT_EQ(wait_for(*child).signal, SIGTERM);
  EXPECT_EQ(child->try_wait()->signal, SIGTERM) << "the same again";
}

TEST(ChildProcess, RunsOnItsCpusAlone) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) last = CPU_ISSET(cpu, &allowed) ? cpu : last;
  ChildSettings settings = shell("grep Cpus_allowed_list /proc/self/status");
  settings.cpus = {last};
  EXPECT_EQ(output_of(settings), "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST(ChildProcess, IsFoundInThePathOfItsOwnEnvironment) {
  EXPECT_NE(failure_of({.words = {"sh"}, .environment = {"PATH=/nowhere:/nor/here"}})
                .find("cannot start 'sh': there is no such program in PATH '/nowhere:/nor/here'"),
            std::string::npos);
}

class InFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/child_XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    ::unlink((folder_ + "/file").c_str());
    ::rmdir(folder_.c_str());
  }
  void write(const std::string& text, mode_t mode) {
    std::ofstream(folder_ + "/file") << text;
    ASSERT_EQ(::chmod((folder_ + "/file").c_str(), mode), 0);
  }
  ChildSettings file() const { return {.words = {"./file"}, .environment = {"PATH=/usr/bin:/bin"}, .folder = folder_}; }
  std::string folder_;
};

TEST_F(InFolder, EveryFailureNamesItsCause) {
  ChildSettings nowhere = shell("true");
  nowhere.folder = folder_ + "/missing";
  EXPECT_NE(failure_of(nowhere).find("missing' does not exist"), std::string::npos) << failure_of(nowhere);
  EXPECT_NE(failure_of(file()).find("there is no such file in '" + folder_), std::string::npos) << failure_of(file());
  write("text", 0644);
  EXPECT_NE(failure_of(file()).find("is not an executable file"), std::string::npos) << failure_of(file());
  write("#!/missing/interpreter\n", 0755);
  EXPECT_NE(failure_of(file()).find("interpreter"), std::string::npos) << failure_of(file());
  ChildSettings long_words = shell("true");
  long_words.words.push_back(std::string(std::size_t{4} << 20, 'x'));
  EXPECT_NE(failure_of(long_words).find("longer than the kernel allows"), std::string::npos) << failure_of(long_words);
  EXPECT_NE(failure_of({}).find("no program"), std::string::npos);
}

TEST_F(InFolder, AFileWithoutAFormatIsAScriptOfTheShell) {
  write("echo \"script $0\"\n", 0755);
  EXPECT_EQ(output_of(file()), "script ./file\n");
}

#ifndef TUTTI_HAS_SANITIZER
TEST(ChildProcess, ManyStartFast) {
  constexpr int kCount = 64;
  std::vector<ChildProcess> children;
  const Time start = now();
  for (int index = 0; index < kCount; ++index) {
    auto child = ChildProcess::start({.words = {"/bin/true"}, .environment = {}});
    ASSERT_TRUE(child) << child.status().text();
    children.push_back(*std::move(child));
  }
  const double seconds = static_cast<double>(now().ns - start.ns) * 1e-9;
  for (ChildProcess& child : children) EXPECT_EQ(wait_for(child), ProcessEnd{});
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 1.0) << "ten times what an idle machine takes";
}
#endif

}  // namespace
}  // namespace tutti::os
