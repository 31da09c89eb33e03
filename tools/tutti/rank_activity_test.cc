#include "tools/tutti/rank_activity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/watch/some_recording_for_test.h"

namespace tutti::tool {
namespace {

using comm::watch::CallState;
using comm::watch::RecordedCall;
using comm::watch::Recording;

RecordedCall timed(std::uint64_t bytes, double started_s, std::optional<double> finished_s) {
  RecordedCall call = comm::watch::done(1, bytes / 4);
  call.started_s = started_s;
  call.finished_s = finished_s;
  return call;
}

Recording taken_at(double taken_s, std::vector<RecordedCall> calls) {
  Recording recording = comm::watch::recording_of(0, 4, std::move(calls));
  recording.taken_s = taken_s;
  return recording;
}

TEST(RankActivity, CountsTheCallsOfTheLastSecond) {
  const Recording recording = taken_at(10.0, {timed(4000, 8.0, 8.5), timed(4000, 9.2, 9.4), timed(400, 9.9, {})});
  EXPECT_EQ(bytes_per_s(std::vector{recording}), 4400u);
}

TEST(RankActivity, CountsOnlyThePartOfALongCallThatIsInTheLastSecond) {
  const Recording recording = taken_at(10.0, {timed(40'000, 5.5, 9.5)});
  EXPECT_EQ(bytes_per_s(std::vector{recording}), 5000u);
}

TEST(RankActivity, CountsNothingOfACallThatIsNotOver) {
  RecordedCall call = comm::watch::running(1, 1000);
  call.started_s = 9.5;
  EXPECT_EQ(bytes_per_s(std::vector{taken_at(10.0, {call})}), 0u);
}

TEST(RankActivity, LooksAtLessThanASecondWhereTheRecorderRemembersLess) {
  std::vector<RecordedCall> calls;
  for (int i = 0; i < 1024; ++i) calls.push_back(timed(4000, 9.75 + i / 4096.0, {}));
  EXPECT_EQ(bytes_per_s(std::vector{taken_at(10.0, calls)}), 1024u * 4000 * 4);
}

TEST(RankActivity, IsTheCallThatWaitsBeforeTheOldest) {
  RecordedCall old = comm::watch::running(1, 10);
  RecordedCall waiting = comm::watch::running(5, 20, 3);
  const std::vector<Recording> recordings = {comm::watch::recording_of(0, 4, {old}),
                                             comm::watch::recording_of(0, 4, {waiting})};
  const auto current = current_call(recordings);
  ASSERT_TRUE(current);
  EXPECT_EQ(current->recording, &recordings[1]);
  EXPECT_EQ(current->call->waits_for, 3);
  EXPECT_EQ(current_call(std::span(recordings).first(1))->call->number, 1u);
}

TEST(RankActivity, IsNothingBetweenCallsAndInCommunicatorsThatHaveEnded) {
  EXPECT_FALSE(current_call(std::vector{comm::watch::recording_of(0, 4, {comm::watch::done(1, 10)})}));
  Recording left = comm::watch::recording_of(0, 4, {comm::watch::running(1, 10)});
  left.life = comm::watch::Life::left;
  EXPECT_FALSE(current_call(std::vector{left}));
}

TEST(RankActivity, StaysEmptyForAProcessWithoutARecorder) {
  launch::Sample sample;
  sample.pid = ::getpid();
  add_activity(sample);
  EXPECT_EQ(sample.call, "");
  EXPECT_EQ(sample.bytes_per_s, 0u);
}

}  // namespace
}  // namespace tutti::tool
