#include "launch/verdict.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>

#include "base/random.h"

namespace tutti::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

constexpr milliseconds kGrace{5000};
constexpr Time kBegin{1'000'000'000};

Time at_ms(std::uint64_t ms) { return {kBegin.ns + ms * 1'000'000}; }

// `hosts` hosts with four ranks each: gpu10, gpu11 and so on.
Layout layout_of(HostIndex hosts) {
  Layout layout;
  for (HostIndex host = 0; host < hosts; ++host) {
    layout.hosts.push_back({"gpu" + std::to_string(10 + host), 4});
    for (Rank local = 0; local < 4; ++local) layout.seats.push_back({static_cast<Rank>(host) * 4 + local, host, local});
  }
  return layout;
}

Ended exits(Rank rank, int code) { return {.rank = rank, .code = code, .core = {}}; }
Ended dies(Rank rank, int signal) { return {.rank = rank, .signal = signal, .core = {}}; }
Ended is_stopped(Rank rank, int signal = SIGTERM) {
  return {.rank = rank, .signal = signal, .was_stopped = true, .core = {}};
}

class VerdictTest : public testing::Test {
 protected:
  VerdictTest() { verdict.begin(kBegin); }

  void end_all_others() {
    for (Rank rank = 0; rank < layout.size(); ++rank)
      EXPECT_EQ(verdict.ended(is_stopped(rank), at_ms(9000)), Measure::none);
  }

  const Layout layout = layout_of(2);
  Verdict verdict{layout, kGrace};
};

TEST_F(VerdictTest, AllWellIsZeroAndSilent) {
  for (Rank rank = 0; rank < layout.size(); ++rank) {
    EXPECT_FALSE(verdict.is_over());
    EXPECT_EQ(verdict.ended(exits(rank, 0), at_ms(10)), Measure::none);
    EXPECT_EQ(verdict.sentence(), "");
  }
  EXPECT_TRUE(verdict.is_over());
  EXPECT_FALSE(verdict.is_stopping());
  EXPECT_EQ(verdict.exit_code(), 0);
  EXPECT_FALSE(verdict.culprit());
  EXPECT_EQ(verdict.report({}), Strings{});
}

TEST_F(VerdictTest, TheFirstFailureEndsTheJobAndIsNamed) {
  EXPECT_EQ(verdict.ended(exits(0, 0), at_ms(5)), Measure::none);
  EXPECT_EQ(verdict.ended(exits(5, 3), at_ms(12'300)), Measure::stop);
  EXPECT_EQ(verdict.sentence(),
            "tutti run: rank 5 on gpu11 failed: exit code 3 after 12.3 s; ending ranks 1-4, 6 and 7");
  EXPECT_TRUE(verdict.is_stopping());
  end_all_others();
  EXPECT_TRUE(verdict.is_over());
  EXPECT_EQ(verdict.exit_code(), 3);
  ASSERT_TRUE(verdict.culprit());
  EXPECT_EQ(verdict.culprit()->rank, 5);
  EXPECT_EQ(verdict.culprit()->host, 1u);
  EXPECT_EQ(verdict.report({"Traceback", "  Error"}),
            (Strings{"tutti run: rank 5 on gpu11 was the first to fail: exit code 3 after 12.3 s",
                     "tutti run: last lines of its output:", "    Traceback", "      Error",
                     "tutti run: ended because of it: ranks 1-4, 6 and 7"}));
}

TEST_F(VerdictTest, SignalsAreNamedWithTheCore) {
  Ended crash = dies(3, SIGSEGV);
  crash.has_core = true;
  crash.core = "/tmp/core.1234";
  EXPECT_EQ(verdict.ended(crash, at_ms(200)), Measure::stop);
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 139);
  EXPECT_EQ(
      verdict.report({})[0],
      "tutti run: rank 3 on gpu10 was the first to fail: killed by signal 11 (Segmentation fault), core dumped to "
      "/tmp/core.1234 after 200 ms");
}

TEST_F(VerdictTest, WhoTookACoreIsNamed) {
  Ended crash = dies(3, SIGABRT);
  crash.has_core = true;
  crash.core = "systemd-coredump";
  verdict.ended(crash, at_ms(200));
  EXPECT_NE(verdict.report({})[0].find("core dumped, taken by systemd-coredump"), std::string::npos);
}

TEST_F(VerdictTest, AKillFromOutsideHasAHint) {
  EXPECT_EQ(verdict.ended(dies(3, SIGKILL), at_ms(200)), Measure::stop);
  EXPECT_NE(verdict.report({})[0].find("dmesg"), std::string::npos);
  EXPECT_EQ(verdict.exit_code(), 137);
}

TEST_F(VerdictTest, OthersThatFailByThemselvesAreNamedWithTheirDelay) {
  verdict.ended(exits(5, 3), at_ms(1000));
  EXPECT_EQ(verdict.ended(exits(2, 1), at_ms(1020)), Measure::none);
  EXPECT_EQ(verdict.ended(exits(3, 1), at_ms(2500)), Measure::none);
  EXPECT_EQ(verdict.ended(dies(6, SIGABRT), at_ms(1001)), Measure::none);
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 3);
  EXPECT_EQ(verdict.report({}), (Strings{"tutti run: rank 5 on gpu11 was the first to fail: exit code 3 after 1.0 s",
                                         "tutti run: failed by themselves afterwards: rank 6 (killed by signal 6 "
                                         "(Aborted), 1 ms later)",
                                         "tutti run: failed by themselves afterwards: ranks 2 and 3 (exit code 1, "
                                         "20 ms to 1.5 s later)",
                                         "tutti run: ended because of it: ranks 0, 1, 4 and 7"}));
}

TEST(Verdict, NamesFewWaysToFail) {
  const Layout layout = layout_of(50);
  Verdict verdict(layout, kGrace);
  for (Rank rank = 0; rank < layout.size(); ++rank) verdict.ended(exits(rank, 1 + rank % 100), at_ms(rank));
  EXPECT_EQ(verdict.report({}).size(), 1 + 5 + 1u);
  EXPECT_EQ(verdict.report({}).back(), "tutti run: failed by themselves afterwards: 189 more");
}

TEST_F(VerdictTest, ARankThatEndsWellAfterTheFailureIsNotAccused) {
  verdict.ended(exits(5, 3), at_ms(1000));
  EXPECT_EQ(verdict.ended(exits(4, 0), at_ms(1020)), Measure::none);
  end_all_others();
  EXPECT_EQ(verdict.report({}).back(), "tutti run: ended because of it: ranks 0-3, 6 and 7");
}

TEST_F(VerdictTest, AProgramThatIsNotThereIs127) {
  EXPECT_EQ(verdict.cannot_start({4, "'trian.py': No such file or directory"}, at_ms(3)), Measure::stop);
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 127);
  EXPECT_EQ(verdict.culprit()->rank, 4);
  EXPECT_EQ(verdict.report({})[0],
            "tutti run: rank 4 on gpu11 was the first to fail: cannot be started: 'trian.py': No such file or "
            "directory");
}

TEST_F(VerdictTest, ALostHostIsNamedWithItsRanks) {
  verdict.ended(exits(6, 0), at_ms(5));
  EXPECT_EQ(verdict.host_lost(1, "the connection was closed", at_ms(2000)), Measure::stop);
  EXPECT_FALSE(verdict.is_over());
  end_all_others();
  EXPECT_TRUE(verdict.is_over());
  EXPECT_EQ(verdict.exit_code(), 255);
  EXPECT_EQ(verdict.culprit()->rank, kNoRank);
  EXPECT_EQ(verdict.culprit()->host, 1u);
  EXPECT_EQ(verdict.report({"never shown"}),
            (Strings{"tutti run: host gpu11 was the first to fail: the connection was closed after 2.0 s; ranks 4, 5 "
                     "and 7 ran there",
                     "tutti run: ended because of it: ranks 0-3"}));
}

TEST_F(VerdictTest, AHostThatGoesAfterItsRanksIsFine) {
  for (Rank rank = 4; rank < 8; ++rank) verdict.ended(exits(rank, 0), at_ms(5));
  EXPECT_EQ(verdict.host_lost(1, "closed", at_ms(6)), Measure::none);
  for (Rank rank = 0; rank < 4; ++rank) verdict.ended(exits(rank, 0), at_ms(7));
  EXPECT_TRUE(verdict.is_over());
  EXPECT_EQ(verdict.exit_code(), 0);
}

TEST_F(VerdictTest, AHostThatIsLostAfterTheFailureIsNamedAsSuch) {
  verdict.ended(exits(0, 1), at_ms(5));
  EXPECT_EQ(verdict.host_lost(1, "closed", at_ms(6)), Measure::none);
  end_all_others();
  EXPECT_TRUE(verdict.is_over());
  EXPECT_EQ(verdict.exit_code(), 1);
  EXPECT_EQ(verdict.report({})[1], "tutti run: lost afterwards: host gpu11, closed");
}

TEST_F(VerdictTest, CtrlCIsPoliteOnceAndThenNot) {
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(100)), Measure::stop);
  EXPECT_EQ(verdict.sentence(), "tutti run: Ctrl-C: ranks 0-7 have 5.0 s to end; once more kills them at once");
  EXPECT_EQ(verdict.ended(is_stopped(3), at_ms(150)), Measure::none);
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(200)), Measure::kill);
  EXPECT_EQ(verdict.sentence(), "tutti run: Ctrl-C again: killing ranks 0-2 and 4-7 at once");
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(300)), Measure::none);
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 130);
  EXPECT_FALSE(verdict.culprit());
  EXPECT_EQ(verdict.report({"x"}),
            (Strings{"tutti run: ended by Ctrl-C after 100 ms", "tutti run: ended because of it: ranks 0-7"}));
}

TEST_F(VerdictTest, OtherSignalsHaveTheirOwnCode) {
  EXPECT_EQ(verdict.interrupted(SIGTERM, at_ms(100)), Measure::stop);
  EXPECT_EQ(verdict.exit_code(), 143);
  Verdict other(layout, kGrace);
  EXPECT_EQ(other.interrupted(SIGHUP, at_ms(100)), Measure::stop);
  EXPECT_EQ(other.exit_code(), 129);
}

TEST_F(VerdictTest, CtrlCDuringAnEndIsPoliteToo) {
  verdict.ended(exits(1, 7), at_ms(50));
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(100)), Measure::none);
  EXPECT_NE(verdict.sentence(), "");
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(200)), Measure::kill);
  EXPECT_EQ(verdict.exit_code(), 7);
}

TEST_F(VerdictTest, CtrlCAfterTheEndChangesNothing) {
  for (Rank rank = 0; rank < layout.size(); ++rank) verdict.ended(exits(rank, 0), at_ms(10));
  EXPECT_EQ(verdict.interrupted(SIGINT, at_ms(11)), Measure::none);
  EXPECT_EQ(verdict.exit_code(), 0);
}

TEST_F(VerdictTest, ATimeoutIs124) {
  EXPECT_EQ(verdict.timed_out(seconds(60), at_ms(60'000)), Measure::stop);
  EXPECT_EQ(verdict.sentence(), "tutti run: the job has reached its time limit of 60 s: ending ranks 0-7");
  EXPECT_EQ(verdict.timed_out(seconds(60), at_ms(60'001)), Measure::none);
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 124);
  EXPECT_EQ(verdict.report({})[0], "tutti run: ended because the job reached its time limit of 60 s (--timeout)");
}

TEST_F(VerdictTest, OutputThatNobodyReadsEndsTheJob) {
  EXPECT_EQ(verdict.output_lost({Code::peer_lost, "nobody reads stdout any more"}, at_ms(100)), Measure::stop);
  EXPECT_EQ(verdict.sentence(), "tutti run: ending ranks 0-7, because output is lost");
  end_all_others();
  EXPECT_EQ(verdict.exit_code(), 141);
  EXPECT_FALSE(verdict.culprit());
  EXPECT_EQ(verdict.report({})[0], "tutti run: ended because output was lost: nobody reads stdout any more");
}

TEST_F(VerdictTest, AFullDiskEndsTheJob) {
  EXPECT_EQ(verdict.output_lost({Code::out_of_memory, "cannot write to 'a'"}, at_ms(100)), Measure::stop);
  EXPECT_EQ(verdict.exit_code(), 1);
}

TEST_F(VerdictTest, OutputThatIsLostDuringAnEndChangesNothing) {
  verdict.ended(exits(1, 7), at_ms(50));
  EXPECT_EQ(verdict.output_lost({Code::peer_lost, "gone"}, at_ms(60)), Measure::none);
  EXPECT_EQ(verdict.exit_code(), 7);
}

TEST_F(VerdictTest, ATimeoutDuringAnEndChangesNothing) {
  verdict.ended(exits(1, 7), at_ms(50));
  EXPECT_EQ(verdict.timed_out(seconds(60), at_ms(60'000)), Measure::none);
  EXPECT_EQ(verdict.exit_code(), 7);
}

TEST_F(VerdictTest, RanksOfWhichNothingIsKnownAreSaid) {
  verdict.ended(exits(1, 7), at_ms(50));
  EXPECT_EQ(verdict.report({}).back(), "tutti run: nothing is known of the end of: ranks 0 and 2-7");
}

TEST_F(VerdictTest, UnknownRanksAndHostsChangeNothing) {
  EXPECT_EQ(verdict.ended(exits(8, 1), at_ms(1)), Measure::none);
  EXPECT_EQ(verdict.ended(exits(-1, 1), at_ms(1)), Measure::none);
  EXPECT_EQ(verdict.cannot_start({99, "x"}, at_ms(1)), Measure::none);
  EXPECT_EQ(verdict.host_lost(7, "x", at_ms(1)), Measure::none);
  EXPECT_FALSE(verdict.is_stopping());
}

TEST_F(VerdictTest, AFailureNeverBecomesZero) {
  verdict.ended(exits(0, 256), at_ms(1));
  EXPECT_EQ(verdict.exit_code(), 1);
}

TEST_F(VerdictTest, TimesAreAsExactAsPeopleWantThem) {
  verdict.ended(exits(0, 1), at_ms(7'500'000));
  EXPECT_NE(verdict.report({})[0].find("after 2 h 5 min"), std::string::npos);
  Verdict other(layout, kGrace);
  other.begin(kBegin);
  other.ended(exits(0, 1), at_ms(300'000));
  EXPECT_NE(other.report({})[0].find("after 5 min"), std::string::npos);
}

// Random events in random order, checked against what was sent.
class RandomJob {
 public:
  explicit RandomJob(std::uint64_t seed)
      : random_(seed), layout_(layout_of(1 + static_cast<HostIndex>(random_.below(4)))), verdict_(layout_, kGrace) {}

  void run() {
    std::vector<bool> has_ended(layout_.seats.size());
    for (int step = 0; step < 60; ++step) {
      const auto rank = static_cast<Rank>(random_.below(layout_.seats.size()));
      const auto host = layout_.seats[static_cast<std::size_t>(rank)].host;
      const bool was_over = verdict_.is_over();
      const Time now = at_ms(static_cast<std::uint64_t>(step));
      const std::uint64_t kind = random_.below(30);
      if (kind < 25) {
        const bool is_new = !has_ended[static_cast<std::size_t>(rank)];
        const Ended end = random_end(rank);
        const bool is_failure = kind == 24 || end.code != 0 || end.signal != 0;
        if (is_new && is_failure) note_failure(rank);
        has_ended[static_cast<std::size_t>(rank)] = true;
        count(kind == 24 ? verdict_.cannot_start({rank, "no such file"}, now) : verdict_.ended(end, now));
      } else if (kind < 27) {
        bool is_new = false;
        for (const Seat& seat : layout_.seats) {
          if (seat.host != host) continue;
          is_new = is_new || !has_ended[static_cast<std::size_t>(seat.rank)];
          has_ended[static_cast<std::size_t>(seat.rank)] = true;
        }
        if (is_new) note_failure(kNoRank);
        count(verdict_.host_lost(host, "cut", now));
      } else {
        if (!was_over && !is_decided_) is_decided_ = true;
        count(kind < 29 ? verdict_.interrupted(SIGINT, now) : verdict_.timed_out(seconds(1), now));
      }
      const bool is_over = std::ranges::all_of(has_ended, [](bool ended) { return ended; });
      ASSERT_EQ(verdict_.is_over(), is_over);
      check();
    }
  }

 private:
  Ended random_end(Rank rank) {
    if (random_.below(3) != 0) return exits(rank, 0);
    Ended end = random_.below(2) == 0 ? exits(rank, 1 + static_cast<int>(random_.below(255)))
                                      : dies(rank, 1 + static_cast<int>(random_.below(31)));
    end.was_stopped = random_.below(2) == 0;
    return end;
  }

  void note_failure(Rank rank) {
    if (is_decided_) return;
    is_decided_ = true;
    culprit_ = rank;
    has_culprit_ = true;
  }

  void count(Measure measure) {
    if (measure == Measure::stop) ++stops_;
    if (measure == Measure::kill) ++kills_;
    ASSERT_GE(stops_, kills_);
  }

  void check() const {
    ASSERT_EQ(verdict_.is_stopping(), is_decided_);
    ASSERT_EQ(verdict_.exit_code() != 0, is_decided_);
    ASSERT_LE(verdict_.exit_code(), 255);
    ASSERT_EQ(stops_, is_decided_ ? 1 : 0);
    ASSERT_LE(kills_, 1);
    ASSERT_EQ(verdict_.culprit().has_value(), has_culprit_);
    ASSERT_EQ(verdict_.culprit().value_or(Verdict::Culprit{}).rank, culprit_);
    ASSERT_EQ(verdict_.report({}).empty(), !is_decided_);
  }

  Random random_;
  Layout layout_;
  Verdict verdict_;
  bool is_decided_ = false;
  bool has_culprit_ = false;
  Rank culprit_ = kNoRank;
  int stops_ = 0;
  int kills_ = 0;
};

TEST(Verdict, HoldsForEventsInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob(seed).run();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::launch
