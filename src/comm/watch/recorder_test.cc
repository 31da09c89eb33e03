#include "comm/watch/recorder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "comm/watch/logbook.h"

namespace tutti::comm::watch {
namespace {

std::vector<transport::Member> members(Rank count) {
  std::vector<transport::Member> all(static_cast<std::size_t>(count));
  for (Rank rank = 0; rank < count; ++rank) {
    auto& member = all[static_cast<std::size_t>(rank)];
    member.rank = rank;
    member.pid = 100 + rank;
    member.host = "here";
  }
  return all;
}

CallFacts facts_of(std::uint32_t turn) {
  const Call call{.collective = plan::Collective::all_reduce, .count = turn, .type = DataType::float32};
  return {.turn = turn, .number = turn + 1, .key = key_of(call), .bytes = 4 * turn, .plan = plan_index("ring")};
}

// A recorder of rank 1 of 3 in a book of its own.
class RecorderOfOne : public ::testing::Test {
 protected:
  Recording read() { return book_.read(recorder_.page()); }

  std::vector<transport::Member> peers_ = members(3);
  Logbook book_;
  Recorder recorder_{book_, book_.take({.rank = 1, .peers = peers_, .store = "file:/a"})};
};

TEST_F(RecorderOfOne, SaysWhoseItIs) {
  const Recording recording = read();
  EXPECT_EQ(recording.rank, 1);
  EXPECT_EQ(recording.size, 3);
  EXPECT_EQ(recording.host, "here");
  ASSERT_EQ(recording.members.size(), 3u);
  EXPECT_EQ(recording.name_of_rank(2), "rank 2 (pid 102 on here)");
  EXPECT_FALSE(recording.ended);
  EXPECT_TRUE(recording.calls.empty());
}

TEST_F(RecorderOfOne, KeepsTheLastCallsWhenTheRingWraps) {
  const std::uint32_t count = 2 * kRing + 500;
  for (std::uint32_t turn = 0; turn < count; ++turn) {
    recorder_.begin(0, facts_of(turn), CallState::running).end(CallState::done, false);
  }
  const Recording recording = read();
  ASSERT_EQ(recording.calls.size(), kRing);
  for (std::uint32_t i = 0; i < kRing; ++i) {
    const RecordedCall& call = recording.calls[i];
    EXPECT_EQ(call.number, count - kRing + i + 1);
    EXPECT_EQ(call.key, facts_of(call.number - 1).key);
    EXPECT_EQ(call.plan, "ring");
    EXPECT_EQ(call.state, CallState::done);
    ASSERT_TRUE(call.finished_s);
    EXPECT_GE(*call.finished_s, call.started_s);
    EXPECT_LE(*call.finished_s, recording.taken_s + 1e-4);
  }
}

TEST_F(RecorderOfOne, ShowsHowFarACallIs) {
  Line line = recorder_.begin(0, facts_of(7), CallState::entered);
  EXPECT_EQ(read().calls.at(0).state, CallState::entered);
  line.set_running(plan_index("direct"));
  line.set_waits_for(2);
  EXPECT_EQ(read().calls.at(0).state, CallState::running);
  EXPECT_EQ(read().calls.at(0).plan, "direct");
  EXPECT_EQ(read().calls.at(0).waits_for, 2);
  EXPECT_FALSE(read().calls.at(0).finished_s);
  line.end(CallState::failed, true);
  EXPECT_EQ(read().calls.at(0).state, CallState::failed);
  EXPECT_TRUE(read().calls.at(0).finished_s) << "it waited, so there was time to look at the clock";
}

TEST_F(RecorderOfOne, LooksAtNoClockWhenASmallCallEndsAtOnce) {
  recorder_.begin(0, facts_of(7), CallState::running).end(CallState::done, true);
  EXPECT_FALSE(read().calls.at(0).finished_s);
}

TEST_F(RecorderOfOne, GivesACallThatWaitedForItsTurnOneLine) {
  for (const std::uint16_t track : {std::uint16_t{0}, TrackLog::track_of(2, true)}) {
    const std::size_t before = read().calls.size();
    const Line queued = recorder_.begin(track, facts_of(3), CallState::queued);
    EXPECT_EQ(read().calls.size(), before + 1);
    recorder_.begin(track, facts_of(3), CallState::entered, queued);
    EXPECT_EQ(read().calls.size(), before + 1);
    EXPECT_EQ(read().calls.back().state, CallState::entered);
  }
}

TEST_F(RecorderOfOne, DoesNotLetMessagesPushCollectivesOut) {
  recorder_.begin(0, facts_of(0), CallState::running);
  for (std::uint32_t turn = 0; turn < 3 * kRing; ++turn) {
    recorder_.begin(TrackLog::track_of(2, turn % 2 == 0), facts_of(turn), CallState::running);
  }
  const Recording recording = read();
  EXPECT_EQ(recording.calls.size(), kRing + 1);
  EXPECT_EQ(recording.calls.front().other, kNoRank);
  EXPECT_EQ(recording.calls.back().other, 2);
}

TEST_F(RecorderOfOne, LeavesACallAloneWhosePlaceALaterOneTook) {
  const std::uint16_t track = TrackLog::track_of(2, true);
  Line first = recorder_.begin(track, facts_of(0), CallState::running);
  for (std::uint32_t turn = 1; turn <= kRing; ++turn) recorder_.begin(track, facts_of(turn), CallState::running);
  first.end(CallState::failed, false);
  for (const RecordedCall& call : read().calls) EXPECT_EQ(call.state, CallState::running) << call.number;
}

TEST_F(RecorderOfOne, RemembersTheFirstReason) {
  recorder_.end(Code::peer_lost, "rank 2 is gone");
  recorder_.end(Code::aborted, "later");
  EXPECT_EQ(read().ended, Code::peer_lost);
  EXPECT_EQ(read().reason, "rank 2 is gone");
}

PageCopies copies_of(const SidePage& page) {
  PageCopies copies;
  for (auto* copy : {&copies.first, &copies.second}) {
    copy->resize(sizeof(SidePage) / 8);
    std::memcpy(copy->data(), &page, sizeof(SidePage));
  }
  return copies;
}

SegmentHead some_head() {
  SegmentHead head{};
  head.magic = kMagic;
  head.version = kVersion;
  head.page_bytes = sizeof(SidePage);
  head.pages = kPagesMax;
  head.ring = kRing;
  return head;
}

TEST_F(RecorderOfOne, LeavesOutACallThatChangesWhileItIsRead) {
  recorder_.begin(0, facts_of(0), CallState::running);
  recorder_.begin(0, facts_of(1), CallState::running);
  PageCopies copies = copies_of(recorder_.page());
  copies.second[offsetof(SidePage, collectives) / 8] = 0;
  const auto recording = decode(some_head(), copies, {});
  ASSERT_TRUE(recording);
  ASSERT_EQ(recording->calls.size(), 1u);
  EXPECT_EQ(recording->calls[0].number, 2u);
}

TEST_F(RecorderOfOne, IsReadWithoutTrustInWhatItHolds) {
  recorder_.begin(0, facts_of(0), CallState::running);
  recorder_.begin(TrackLog::track_of(2, true), facts_of(0), CallState::running);
  const PageCopies good = copies_of(recorder_.page());
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    PageCopies bad = good;
    const bool is_head = round % 2 == 0;
    const std::size_t at = is_head ? 0 : offsetof(SidePage, collectives) / 8;
    for (int i = 0; i < 40; ++i) bad.first[at + random.below(is_head ? 200 : 16)] = random.next();
    bad.second = bad.first;
    const auto recording = decode(some_head(), bad, {});
    if (!recording) continue;
    EXPECT_LT(recording->rank, recording->size);
    for (const RecordedCall& call : recording->calls) {
      EXPECT_LT(call.other, recording->size);
      EXPECT_LT(call.waits_for, recording->size);
      EXPECT_FALSE(call.text().empty());
    }
  }
}

TEST(SegmentHeads, OfOtherProgramsAndVersionsAreRefused) {
  EXPECT_TRUE(validate(some_head()));
  SegmentHead head = some_head();
  head.magic = 1;
  EXPECT_EQ(validate(head).text(), "this is no flight recorder of Tutti");
  head = some_head();
  head.version = 9;
  EXPECT_EQ(validate(head).code(), Code::unsupported);
  head = some_head();
  head.page_bytes = 64;
  EXPECT_FALSE(validate(head));
}

TEST(Logbooks, NameCommunicatorsAlikeOnEveryRank) {
  Logbook one;
  Logbook other;
  const auto peers = members(2);
  const auto name = [&](Logbook& book, Rank rank, std::string_view store) {
    return book.take({.rank = rank, .peers = peers, .store = store}).head.communicator;
  };
  const std::uint64_t first = name(one, 0, "file:/a");
  const std::uint64_t second = name(one, 0, "file:/a");
  EXPECT_NE(first, second) << "a second one of the same members";
  EXPECT_NE(first, name(one, 0, "file:/b"));
  EXPECT_EQ(name(other, 1, "file:/a"), first);
  EXPECT_EQ(name(other, 1, "file:/a"), second);
}

TEST(Logbooks, UsePagesAgainAndForgetWhatTheyHeld) {
  Logbook book;
  const auto peers = members(2);
  const SideFacts facts{.rank = 0, .peers = peers, .store = "file:/a"};
  const SidePage* first = nullptr;
  {
    Recorder recorder(book, book.take(facts));
    first = &recorder.page();
    recorder.begin(0, facts_of(0), CallState::running);
    recorder.end(Code::aborted, "enough");
    EXPECT_EQ(book.read_all().size(), 1u);
  }
  EXPECT_TRUE(book.read_all().empty());
  Recorder recorder(book, book.take(facts));
  EXPECT_EQ(&recorder.page(), first);
  EXPECT_TRUE(book.read(recorder.page()).calls.empty());
  EXPECT_FALSE(book.read(recorder.page()).ended);
}

TEST(Logbooks, HavePagesForMoreSidesThanTheSegment) {
  Logbook book;
  const auto peers = members(1);
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (std::uint32_t i = 0; i < kPagesMax + 2; ++i) {
    auto& page = book.take({.rank = 0, .peers = peers, .store = ""});
    recorders.push_back(std::make_unique<Recorder>(book, page));
  }
  recorders.back()->begin(0, facts_of(4), CallState::running);
  EXPECT_EQ(book.read(recorders.back()->page()).calls.at(0).number, 5u);
}

TEST(PlanIndices, NameEveryAlgorithm) {
  for (const plan::Algorithm& algorithm : plan::algorithms()) EXPECT_NE(plan_index(algorithm.name), 0);
  EXPECT_EQ(plan_index("no such thing"), 0);
}

}  // namespace
}  // namespace tutti::comm::watch
