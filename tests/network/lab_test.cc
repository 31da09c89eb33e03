// The virtual hosts that other tests stand on: they talk, they are slow, deaf or unplugged when told so, and they leave
// nothing behind.
#include <gtest/gtest.h>
#include <net/if.h>

#include <optional>
#include <set>

#include "base/text.h"
#include "os/clock.h"
#include "os/process.h"
#include "tests/network/conversation.h"
#include "tests/network/lab/lab.h"
#include "tests/process/crew.h"

namespace tutti::network {
namespace {

using conformance::Crew;
using lab::Decoys;
using lab::Family;
using lab::Lab;
using lab::LabOptions;
using lab::Link;
using std::chrono::seconds;

constexpr seconds kLimit(20);

class LabTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
  Lab create(const LabOptions& options = {}) {
    auto lab = Lab::create(options);
    if (!lab) ADD_FAILURE() << lab.status().text();
    if (!lab) std::abort();
    return *std::move(lab);
  }
};

std::string run(const Lab& lab, int host, std::vector<std::string> words) {
  const auto output = lab.run(host, {.words = std::move(words)}, kLimit);
  return output ? *output : "failed: " + std::string(output.status().text());
}

struct Route {
  int from = 0;
  int to = 1;
  int rail = 0;
  Family family = Family::ipv4;
};

// One letter there and back; empty: it came.
std::string converse(const Lab& lab, const Route& route) {
  const Board board;
  const std::string address = lab.address(route.to, route.rail, route.family);
  Crew crew(2, [&](int member) -> std::string {
    if (const Status status = lab.enter(member == 0 ? route.to : route.from); !status)
      return std::string(status.text());
    if (member == 0) return echo(accept_one(address, board));
    const FileDescriptor connection = connect_to(address, board);
    char letter = 'x';
    if (!connection.is_open()) return "no connection to " + address;
    if (!send_all(connection, {&letter, 1}) || !receive_all(connection, {&letter, 1})) return "no answer";
    return letter == 'x' ? "" : "another letter came back";
  });
  std::string all;
  for (const std::string& text : crew.finish(kLimit)) all += text;
  return all;
}

TEST_F(LabTest, EveryHostReachesEveryOtherOnEveryRailByBothFamilies) {
  const Lab lab = create({.host_count = 3, .rails = {{}, {}}});
  for (int rail = 0; rail < 2; ++rail) {
    for (const Family family : {Family::ipv4, Family::ipv6}) {
      for (int to = 0; to < 3; ++to) {
        EXPECT_EQ(converse(lab, {(to + 1) % 3, to, rail, family}), "") << "to host " << to << " on rail " << rail;
      }
    }
  }
}

TEST_F(LabTest, HostsHaveNamesBootIdsAndSharedMemoryOfTheirOwn) {
  const Lab lab = create();
  EXPECT_EQ(run(lab, 1, {"cat", "/proc/sys/kernel/hostname"}), "host1\n");
  EXPECT_NE(run(lab, 0, {"cat", "/etc/hosts"}).find("10.77.0.2 host1\n"), std::string::npos);
  EXPECT_EQ(run(lab, 0, {"ls", "/sys/class/net"}).find("ifb"), std::string::npos);
  std::set<std::string> boot_ids;
  for (const int host : {0, 1}) boot_ids.insert(run(lab, host, {"cat", "/proc/sys/kernel/random/boot_id"}));
  EXPECT_EQ(boot_ids.size(), 2u);
  EXPECT_EQ(run(lab, 0, {"touch", "/dev/shm/seen-by-one"}), "");
  EXPECT_EQ(run(lab, 0, {"ls", "/dev/shm"}), "seen-by-one\n");
  EXPECT_EQ(run(lab, 1, {"ls", "/dev/shm"}), "");
}

TEST_F(LabTest, LabsWithTheSameAddressesDoNotMeet) {
  Lab first = create();
  const Lab second = create();
  ASSERT_TRUE(first.cut(1));
  EXPECT_EQ(converse(second, {}), "");
}

TEST_F(LabTest, DecoysAreThereAndLeadNowhere) {
  const Lab lab = create({.decoys = Decoys::present});
  for (const int host : {0, 1}) {
    const std::string addresses = run(lab, host, {"ip", "-brief", "address"});
    EXPECT_NE(addresses.find("172.17.0.1/16"), std::string::npos) << addresses;
    EXPECT_NE(addresses.find("10.78.9."), std::string::npos) << addresses;
    EXPECT_NE(run(lab, host, {"cat", "/sys/class/net/docker0/operstate"}), "down\n");
    EXPECT_EQ(run(lab, host, {"cat", "/sys/class/net/eth9/operstate"}), "down\n");
  }
}

// Bits per second of payload, from the first byte that arrives to the last.
double measure_rate(const Lab& lab, const Route& route, std::size_t bytes) {
  const Board board;
  const std::string address = lab.address(route.to, route.rail);
  Crew crew(2, [&](int member) -> std::string {
    if (!lab.enter(member == 0 ? route.to : route.from)) return "no host";
    std::vector<char> data(bytes);
    if (member == 1) return send_all(connect_to(address, board), data) ? "" : "could not send";
    const FileDescriptor connection = accept_one(address, board);
    if (!receive_all(connection, std::span(data).first(1))) return "nothing came";
    const Time begin = os::now();
    if (!receive_all(connection, std::span(data).subspan(1))) return "not all came";
    return fmt::format("{}", static_cast<double>(bytes) * 8e9 / static_cast<double>(os::now().ns - begin.ns));
  });
  const auto texts = crew.finish(kLimit);
  const auto rate = text::real_of(texts[0]);
  EXPECT_TRUE(rate && texts[1].empty()) << texts[0] << texts[1];
  return rate.value_or(0);
}

TEST_F(LabTest, ShapedLinesCarryWhatTheyShallInBothDirections) {
  constexpr std::uint64_t kRate = 100'000'000;
  const Lab lab = create({.rails = {{.bits_per_second = kRate}, {}}});
  const std::size_t bytes = 5 << 20;
  for (const Route& route : {Route{0, 1, 0}, Route{1, 0, 0}}) {
    const double rate = measure_rate(lab, route, bytes);
    EXPECT_GT(rate, 0.75 * kRate);
    EXPECT_LT(rate, 1.25 * kRate);
  }
  EXPECT_GT(measure_rate(lab, {0, 1, 1}, bytes), 2.0 * kRate) << "the other rail is not shaped";
}

TEST_F(LabTest, ACutHostIsSilentAndAHealedOneGoesOnWithTheSameConnection) {
  Lab lab = create();
  const Board board;
  const Board steps;
  const std::string address = Lab::address(1, 0);
  Crew crew(2, [&](int member) -> std::string {
    if (!lab.enter(member == 0 ? 1 : 0)) return "no host";
    if (member == 0) return echo(accept_one(address, board));
    const FileDescriptor connection = connect_to(address, board);
    char letter = 'a';
    if (!send_all(connection, {&letter, 1}) || !receive_all(connection, {&letter, 1})) return "no answer at first";
    steps.started().store(1);
    if (!Board::wait_for(steps.released(), 1)) return "never cut";
    letter = 'b';
    if (!send_all(connection, {&letter, 1})) return "sending failed";
    if (has_news(connection, 500)) return "something came through the cut";
    steps.started().store(2);
    if (!receive_all(connection, {&letter, 1})) return "the connection ended";
    return letter == 'b' ? "" : "another letter came back";
  });
  ASSERT_TRUE(Board::wait_for(steps.started(), 1));
  ASSERT_TRUE(lab.cut(1));
  steps.released().store(1);
  EXPECT_TRUE(Board::wait_for(steps.started(), 2));
  EXPECT_EQ(run(lab, 1, {"cat", "/sys/class/net/eth0/operstate"}), "up\n") << "the host itself sees nothing";
  EXPECT_TRUE(lab.heal(1));
  for (const std::string& text : crew.finish(kLimit)) EXPECT_EQ(text, "");
}

TEST_F(LabTest, LinksGoDownLoseTheirCarrierAndComeBack) {
  Lab lab = create({.rails = {{}, {}}});
  for (const Link link : {Link::down, Link::unplugged}) {
    ASSERT_TRUE(lab.set_link(0, 0, link));
    const std::string flags = run(lab, 0, {"ip", "link", "show", "dev", "eth0"});
    const bool is_unplugged = flags.find("NO-CARRIER") != std::string::npos;
    EXPECT_EQ(is_unplugged, link == Link::unplugged) << flags;
    EXPECT_EQ(converse(lab, {0, 1, 1}), "") << "the other rail does not care";
    ASSERT_TRUE(lab.set_link(0, 0, Link::up));
    EXPECT_EQ(converse(lab, {0, 1, 0}), "");
    EXPECT_EQ(converse(lab, {1, 0, 0, Family::ipv6}), "");
  }
}

TEST_F(LabTest, ProgramsEndWithTheirLimitAndSayWhyTheyCannotStart) {
  const Lab lab = create();
  const auto late = lab.run(0, {.words = {"sleep", "600"}}, std::chrono::milliseconds(100));
  EXPECT_EQ(late.status().code(), Code::timed_out);
  EXPECT_TRUE(lab.clear(kLimit)) << "it still runs";
  EXPECT_NE(run(lab, 0, {"no-such-program"}).find("No such file"), std::string::npos);
  EXPECT_NE(run(lab, 0, {"sh", "-c", "echo so it goes; exit 3"}).find("exit code 3"), std::string::npos);
}

std::set<std::string> interfaces() {
  std::set<std::string> names;
  const auto free_all = [](struct if_nameindex* all) { ::if_freenameindex(all); };
  const std::unique_ptr<struct if_nameindex, decltype(free_all)> all(::if_nameindex(), free_all);
  for (const auto* entry = all.get(); entry->if_index != 0; ++entry) names.insert(entry->if_name);
  return names;
}

// Neither a child of ours nor in a group of ours.
void start_daemon(const Lab& lab) {
  const auto shell = lab.start(1, {.words = {"sh", "-c", "setsid sh -c 'echo here; exec sleep 600' & wait"}});
  ASSERT_TRUE(shell) << shell.status().text();
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  while (shell->output() != "here\n") {
    ASSERT_FALSE(deadline.has_passed(os::now())) << shell->output();
    ::usleep(1000);
  }
}

TEST_F(LabTest, NothingIsLeftOfALab) {
  const std::set<std::string> before = interfaces();
  std::vector<pid_t> pids;
  {
    const Lab lab = create();
    EXPECT_EQ(interfaces(), before) << "everything happens elsewhere";
    start_daemon(lab);
    pids = lab.processes();
    EXPECT_EQ(pids.size(), 1u);
    for (const int host : {0, 1}) pids.push_back(lab.keeper(host));
  }
  for (const pid_t pid : pids) EXPECT_TRUE(lab::has_ended(pid, kLimit)) << pid;
  EXPECT_EQ(interfaces(), before);
}

TEST_F(LabTest, NothingIsLeftOfALabWhoseMakerIsKilled) {
  const Board board;
  Crew crew(1, [&](int) -> std::string {
    const Lab lab = create();
    start_daemon(lab);
    board.started().store(static_cast<std::uint32_t>(lab.keeper(0)));
    for (const pid_t pid : lab.processes()) board.released().store(static_cast<std::uint32_t>(pid));
    for (;;) ::pause();
  });
  ASSERT_TRUE(Board::wait_for(board.released(), 1));
  crew.send(0, SIGKILL);
  crew.finish(kLimit);
  EXPECT_TRUE(lab::has_ended(static_cast<pid_t>(board.started().load()), kLimit));
  EXPECT_TRUE(lab::has_ended(static_cast<pid_t>(board.released().load()), kLimit));
}

}  // namespace
}  // namespace tutti::network
