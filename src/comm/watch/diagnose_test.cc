#include "comm/watch/diagnose.h"

#include <gtest/gtest.h>

#include "comm/watch/some_recording_for_test.h"

namespace tutti::comm::watch {
namespace {

std::vector<Finding> findings_of(std::vector<Recording> recordings) {
  const auto jobs = jobs_of(std::move(recordings));
  EXPECT_EQ(jobs.size(), 1u);
  return jobs.empty() ? std::vector<Finding>() : diagnose(jobs.front());
}

// The only finding, with its culprits and its sentence.
void expect_only(const std::vector<Finding>& findings, Trouble trouble, const std::vector<Rank>& ranks,
                 const std::string& part) {
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].trouble, trouble) << findings[0].text;
  EXPECT_EQ(findings[0].ranks, ranks) << findings[0].text;
  EXPECT_NE(findings[0].text.find(part), std::string::npos) << findings[0].text << "\nlacks: " << part;
}

TEST(Diagnosis, FindsNothingWhereAllIsWell) {
  EXPECT_TRUE(findings_of({recording_of(0, 2, {done(1, 8), done(2, 8)}), recording_of(1, 2, {done(1, 8)})}).empty());
  EXPECT_TRUE(findings_of({recording_of(0, 2, {}), recording_of(1, 2, {})}).empty());
}

TEST(Diagnosis, DoesNotBlameARankThatWasLookedAtAMomentEarlier) {
  Recording ahead = recording_of(0, 2, {done(1, 8), running(2, 8, 1)});
  ahead.taken_s = ahead.calls.back().started_s + 0.01;
  EXPECT_TRUE(findings_of({ahead, recording_of(1, 2, {done(1, 8)})}).empty());
}

TEST(Diagnosis, NamesTheFirstCallThatDiffersAndTheFewWhoDiffer) {
  const auto findings = findings_of({recording_of(0, 3, {done(1, 8), done(2, 8), running(3, 8)}),
                                     recording_of(1, 3, {done(1, 8), done(2, 9), running(3, 7)}),
                                     recording_of(2, 3, {done(1, 8), done(2, 8), running(3, 8)})});
  expect_only(findings, Trouble::mismatch, {1},
              "call 2 is not the same everywhere: rank 0 (pid 100 on node0) calls "
              "all_reduce of 8 float32, sum, rank 1 (pid 101 on node1) calls "
              "all_reduce of 9 float32, sum (count 8 against 9)");
  EXPECT_EQ(findings[0].call, 2u);
}

TEST(Diagnosis, ComparesWhatBothRanksStillRemember) {
  std::vector<RecordedCall> long_ago = {done(1, 5)};
  std::vector<RecordedCall> lately = {done(7, 8), running(8, 8)};
  EXPECT_EQ(findings_of({recording_of(0, 2, lately), recording_of(1, 2, lately)}).front().trouble, Trouble::stuck);
  expect_only(findings_of({recording_of(0, 2, lately), recording_of(1, 2, long_ago)}), Trouble::behind, {1},
              "is behind by 7 calls: its last was call 1");
}

TEST(Diagnosis, NamesWhoIsBehindAndWhatItDoes) {
  expect_only(findings_of({recording_of(0, 2, {done(1, 8), running(2, 8, 1)}), recording_of(1, 2, {done(1, 8)})}),
              Trouble::behind, {1},
              "rank 1 (pid 101 on node1) is behind by 1 call: its last was call 1, all_reduce of 8 float32, sum, while "
              "rank 0 (pid 100 on node0) waits in call 2");
  expect_only(findings_of({recording_of(0, 2, {done(1, 8), running(2, 8, 1)}), recording_of(1, 2, {running(1, 8)})}),
              Trouble::behind, {1}, "it is still in call 1");
}

TEST(Diagnosis, NamesWhoNeverArrived) {
  expect_only(findings_of({recording_of(0, 2, {running(1, 8, 1)}), recording_of(1, 2, {})}), Trouble::never_arrived,
              {1}, "rank 1 (pid 101 on node1) has made no call yet, while rank 0");
}

TEST(Diagnosis, NamesWhoDied) {
  Recording witness = recording_of(0, 3, {done(1, 8), running(2, 8, 2)});
  Recording other = recording_of(1, 3, {done(1, 8), running(2, 8)});
  expect_only(findings_of({witness, other}), Trouble::died, {2},
              "rank 2 (pid 102 on node2) left no recording: it has died or is out of reach; rank 0 (pid 100 on node0) "
              "waits for it in call 2");
  other.ended = Code::peer_lost;
  other.reason = "all_reduce waited 3 s for rank 2 (pid 102 on node2), which has died";
  expect_only(findings_of({witness, other}), Trouble::died, {2}, "rank 2 (pid 102 on node2) has died; rank 1");
}

TEST(Diagnosis, DoesNotCallARankDeadThatNobodyMisses) {
  EXPECT_TRUE(findings_of({recording_of(0, 3, {done(1, 8)}), recording_of(2, 3, {done(1, 8)})}).empty());
}

TEST(Diagnosis, NamesTheOneThatWaitsForNobodyInACallThatDoesNotGoOn) {
  expect_only(findings_of({recording_of(0, 3, {running(1, 8, 1)}), recording_of(1, 3, {running(1, 8, 2)}),
                           recording_of(2, 3, {running(1, 8)})}),
              Trouble::stuck, {2}, "rank 2 (pid 102 on node2) is in it and waits for nobody");
}

TEST(Diagnosis, ComparesBothEndsOfMessages) {
  expect_only(findings_of({recording_of(0, 2, {message(1, true, 4)}), recording_of(1, 2, {message(0, false, 5)})}),
              Trouble::mismatch, {0, 1}, "send of 4 float32 to rank 1 against receive of 5 float32 from rank 0");
  expect_only(findings_of({recording_of(0, 2, {message(1, true, 4)}), recording_of(1, 2, {})}), Trouble::behind, {1},
              "rank 1 (pid 101 on node1) has not made its end of message 1, while rank 0");
}

TEST(Diagnosis, GivesTheReasonWhereNothingElseExplainsIt) {
  Recording recording = recording_of(0, 1, {done(1, 8)});
  recording.ended = Code::aborted;
  recording.reason = "the loss is not a number";
  expect_only(findings_of({recording}), Trouble::ended, {}, "ended (aborted): the loss is not a number");
}

TEST(Diagnosis, KnowsFromTheReasonWhoMadeAnotherCallAndLeft) {
  Recording recording = recording_of(0, 2, {done(1, 8), running(2, 8, 1)});
  recording.ended = Code::invalid_usage;
  recording.reason =
      "call 2 is not the same everywhere: rank 0 (pid 100 on node0) calls barrier, rank 1 (pid 101 on node1) calls x";
  const auto findings = findings_of({recording});
  expect_only(findings, Trouble::mismatch, {0, 1}, recording.reason);
  EXPECT_EQ(findings[0].call, 2u);
}

TEST(Diagnosis, NeverComparesClocksOfDifferentHosts) {
  Recording ahead = recording_of(0, 2, {done(1, 8), running(2, 8, 1)});
  Recording behind = recording_of(1, 2, {done(1, 8)});
  const auto expected = findings_of({ahead, behind}).front().text;
  for (RecordedCall& call : behind.calls) call.started_s += 1e6;
  behind.taken_s += 1e6;
  EXPECT_EQ(findings_of({ahead, behind}).front().text, expected);
}

TEST(Jobs, AreToldApartAndKeepTheLatestOfARank) {
  Recording early = recording_of(0, 2, {});
  Recording late = recording_of(0, 2, {done(1, 8)});
  late.taken_s += 1;
  Recording other = recording_of(0, 4, {});
  other.communicator = 0xdef;
  const auto jobs = jobs_of({late, early, other});
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(jobs[0].recordings.size(), 1u);
  EXPECT_EQ(jobs[0].recordings[0].calls.size(), 1u);
  EXPECT_EQ(jobs[0].missing, std::vector<Rank>({1}));
  EXPECT_EQ(jobs[1].missing, std::vector<Rank>({1, 2, 3}));
}

}  // namespace
}  // namespace tutti::comm::watch
