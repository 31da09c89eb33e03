// Hosts with several networks, or with unusual ones: all that can be used is used, what breaks is done without.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/conformance/scenario.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using conformance::play_many;
using lab::Decoys;
using lab::Link;
using std::chrono::seconds;

class Rails : public OnHosts {};

std::string failure_of(const Status& status) { return status ? "" : spoken(status); }

std::string add_up(Communicator& communicator, std::size_t count) {
  std::vector<std::int32_t> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = communicator.rank() + static_cast<std::int32_t>(i % 1000);
  if (const Status status = communicator.all_reduce(std::span<std::int32_t>(data)); !status) return spoken(status);
  const Rank n = communicator.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t wanted = n * (n - 1) / 2 + n * static_cast<std::int32_t>(i % 1000);
    if (data[i] != wanted) return fmt::format("element {} is {}, not {}", i, data[i], wanted);
  }
  return {};
}

std::uint64_t bytes_sent(const Lab& lab, int host, const std::string& interface) {
  const auto text = lab.run(host, {.words = {"cat", "/proc/net/dev"}}, seconds(10));
  const std::size_t at = text ? text->find(interface + ":") : std::string::npos;
  if (at == std::string::npos) return 0;
  std::istringstream numbers(text->substr(at + interface.size() + 1));
  constexpr int kSentAt = 8;  // eight numbers of what was received come first
  std::uint64_t number = 0;
  for (int i = 0; i <= kSentAt; ++i) numbers >> number;
  return number;
}

TEST_F(Rails, BothCarryDataAndDecoysDoNot) {
  const Lab lab = create({.rails = {{}, {}}, .decoys = Decoys::present});
  constexpr std::uint64_t kBytes = 16 << 20;
  Job job(lab, {0, 1}, [](Communicator& communicator) -> std::string {
    for (int i = 0; i < 4; ++i) {
      if (const std::string failure = add_up(communicator, kBytes / 4); !failure.empty()) return failure;
    }
    return play_many(communicator, 50, 1 << 20, 800);
  });
  job.expect_success();
  for (const int host : {0, 1}) {
    for (const std::string interface : {"eth0", "eth1"}) {
      EXPECT_GT(bytes_sent(lab, host, interface), kBytes / 2) << "host " << host << " " << interface;
    }
    for (const std::string interface : {"docker0", "eth9"}) {
      EXPECT_LT(bytes_sent(lab, host, interface), 10'000u) << "host " << host << " " << interface;
    }
  }
}

struct Break {
  int rail = 0;
  Link link = Link::down;
};

TEST_F(Rails, AJobGoesOnWhenOneBreaks) {
  std::vector<Break> breaks = {{0, Link::down}, {1, Link::unplugged}};
  if (runs_all()) breaks.insert(breaks.end(), {{0, Link::unplugged}, {1, Link::down}});
  for (const Break& broken : breaks) {
    Lab lab = create({.rails = {{}, {}}});
    const Board board;
    Job job(lab, {0, 1, 1},
            [&](Communicator& communicator) -> std::string {
              std::string failure = add_up(communicator, 1 << 20);
              ++board.started();
              // All ranks stop at the same call: the one after the break that rank 0 has seen.
              for (int after = 0; failure.empty() && after < 5;) {
                std::int32_t has_broken = communicator.rank() == 0 && board.released().load() > 0 ? 1 : 0;
                const Status status = communicator.all_reduce(std::span<std::int32_t>(&has_broken, 1));
                if (!status) return spoken(status);
                after += has_broken;
                failure = add_up(communicator, 1 << 20);
              }
              return failure;
            },
            {.times = {.call = seconds(40)}, .environment = {{"TUTTI_SILENCE", "4"}}});
    ASSERT_TRUE(Board::wait_for(board.started(), 3)) << job.logs();
    ASSERT_TRUE(lab.set_link(0, broken.rail, broken.link));
    ++board.released();
    job.expect_success();
    expect_in(job.logs(), {Lab::interface_name(broken.rail), "is no longer used"});
    if (HasFailure()) return;
  }
}

// A sender whose connections are full asks ever more rarely whether there is room again, so it learns late that nobody
// answers. The receiver, which has nothing to send, learns it in time and tells.
TEST_F(Rails, OneThatBreaksWhileTheReceiverTakesNothingIsDoneWithoutSoon) {
  constexpr std::size_t kCount = 16 << 20;
  Lab lab = create({.rails = {{}, {}}});
  const Board board;
  Job job(lab, {0, 1},
          [&](Communicator& communicator) -> std::string {
            if (const Status status = communicator.barrier(); !status) return spoken(status);
            std::vector<std::int32_t> data(kCount, communicator.rank() == 0 ? 7 : 0);
            ++board.started();
            if (communicator.rank() == 0) return failure_of(communicator.send(std::span<const std::int32_t>(data), 1));
            if (!Board::wait_for(board.released(), 1)) return "never released";
            const Time begin = os::now();
            if (const Status status = communicator.receive(std::span(data), 0); !status) return spoken(status);
            const double waited = static_cast<double>(os::now().ns - begin.ns) * 1e-9;
            if (std::count(data.begin(), data.end(), 7) != kCount) return "it has received something else";
            return waited < 8 ? "" : fmt::format("it took {:.1f} s", waited);
          },
          {.times = {.call = seconds(60)}, .environment = {{"TUTTI_SILENCE", "2"}}});
  ASSERT_TRUE(Board::wait_for(board.started(), 2)) << job.logs();
  ::usleep(4'000'000);  // for so long it takes nothing
  ASSERT_TRUE(lab.set_link(0, 1, Link::unplugged));
  ++board.released();
  job.expect_success();
  expect_in(job.logs(), {"eth1", "is no longer used"});
}

TEST_F(Rails, AJobEndsWithASentenceWhenAllBreak) {
  Lab lab = create({.rails = {{}, {}}});
  const Board board;
  Job job(lab, {0, 1},
          [&](Communicator& communicator) -> std::string {
            std::string failure = add_up(communicator, 1000);
            ++board.started();
            while (failure.empty()) failure = add_up(communicator, 1 << 18);
            return failure;
          },
          {.times = {.call = seconds(40)}, .environment = {{"TUTTI_SILENCE", "2"}}});
  ASSERT_TRUE(Board::wait_for(board.started(), 2)) << job.logs();
  for (const int rail : {0, 1}) ASSERT_TRUE(lab.set_link(0, rail, Link::down));
  const auto texts = job.finish(seconds(20));
  for (Rank rank = 0; rank < 2; ++rank) {
    const Rank other = 1 - rank;
    expect_in(texts[static_cast<std::size_t>(rank)],
              {"peer lost: all_reduce of ", "waited ",
               fmt::format("rank {} (pid {} on host{}), which ", other, job.pid(other), other)});
  }
}

TEST_F(Rails, EveryCollectiveWorksOverIpv6AloneAndEncrypted) {
  const Lab lab = create({.host_count = 2, .rails = {{}, {}}});
  for (const Environment& environment :
       {Environment{{"TUTTI_SOCKET_FAMILY", "ipv6"}}, Environment{{"TUTTI_ENCRYPT", "1"}},
        Environment{{"TUTTI_ENCRYPT", "1"}, {"TUTTI_RAILS_MAX", "1"}}}) {
    Job job(lab, {0, 1, 0}, [](Communicator& communicator) { return play_many(communicator, 60, 1 << 20, 801); },
            {.environment = environment});
    job.expect_success();
    if (HasFailure()) return;
  }
}

TEST_F(Rails, OneThatIsChosenByNameIsTheOnlyOneUsed) {
  const Lab lab = create({.rails = {{}, {}}});
  Job job(lab, {0, 1}, [](Communicator& communicator) { return add_up(communicator, 1 << 20); },
          {.environment = {{"TUTTI_SOCKET_IFNAME", "=eth1"}}});
  job.expect_success();
  EXPECT_LT(bytes_sent(lab, 0, "eth0"), 100'000u);
  EXPECT_GT(bytes_sent(lab, 0, "eth1"), 1'000'000u);
}

TEST_F(Rails, AHostWithoutALinkSaysSo) {
  Lab lab = create();
  const Board board;
  ASSERT_TRUE(lab.set_link(1, 0, Link::unplugged).is_ok());
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) return spoken(Job::join(1, 2, letter.read()).status());
    const auto identifier = Identifier::create();
    if (identifier) letter.write(identifier->text());
    return Board::wait_for(board.released(), 1) ? "" : "never released";
  });
  EXPECT_TRUE(lab::has_ended(job.pid(1), seconds(20)));
  ++board.released();
  expect_in(job.finish()[1], {"starting rank 1 of 2: no interface of this host can be used to reach 10.77.0.1:",
                              "eth0 dropped: no link", "TUTTI_SOCKET_IFNAME"});
}

TEST_F(Rails, ALinkThatComesSoonIsWaitedFor) {
  Lab lab = create();
  const Board board;
  ASSERT_TRUE(lab.set_link(1, 0, Link::unplugged).is_ok());
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    const std::string text = rank == 0 ? "" : letter.read();
    if (rank > 0) ++board.started();
    const auto communicator = rank == 0 ? Job::meet(0, 2, letter) : Job::join(1, 2, text);
    return communicator ? "" : spoken(communicator.status());
  });
  EXPECT_TRUE(Board::wait_for(board.started(), 1));
  EXPECT_TRUE(lab.set_link(1, 0, Link::up).is_ok());
  job.expect_success();
}

TEST_F(Rails, ANameThatNoInterfaceHasIsAnError) {
  const Lab lab = create();
  Job job(lab, {0}, {.environment = {{"TUTTI_SOCKET_IFNAME", "=ib7"}}}, [](Rank, const Letter&) {
    const auto identifier = Identifier::create();
    return identifier ? "made" : spoken(identifier.status());
  });
  expect_in(job.finish()[0], {"ib7", "TUTTI_SOCKET_IFNAME", "eth0"});
}

TEST_F(Rails, SlowLinksAreNoReasonToGiveUp) {
  const Lab lab = create({.rails = {{.bits_per_second = 100'000'000}}});
  Job job(lab, {0, 1, 1}, [](Communicator& communicator) { return add_up(communicator, 6 << 20); },
          {.times = {.call = seconds(60)}, .environment = {{"TUTTI_SILENCE", "1"}}});
  job.expect_success(seconds(80));
  EXPECT_EQ(job.logs(), "");
}

}  // namespace
}  // namespace tutti::network
