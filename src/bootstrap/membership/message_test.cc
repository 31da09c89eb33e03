#include <gtest/gtest.h>

#include <algorithm>

#include "bootstrap/membership/meeting_message.h"
#include "bootstrap/membership/member_message.h"
#include "bootstrap/membership/neighbours.h"
#include "bootstrap/membership/notices.h"

namespace tutti::bootstrap {
namespace {

const Participant kSomebody = {{{7}, {"10.0.0.1:4000", "[fd00::1]:4000"}}, {"node4", 71}, Bytes(5, std::byte{9})};

std::vector<MeetingMessage> meeting_messages() {
  return {Join{3, kNoRank, 8, "1.0", kSomebody},
          Spread{3, true},
          Waiting{3, 64, 3, {4, 23, 40}},
          Refused{3, "rank 9 is not one of 8 ranks"},
          Everybody{{3, {kSomebody, kSomebody}}},
          Check{3},
          Report{3, false}};
}

std::vector<MemberBody> member_bodies() {
  const Ballot ballot{2, 5};
  return {Heartbeat{},
          Gone{4, GoneKind::silent, 2, "it has heard nothing"},
          Notice{1, 7, Bytes(3)},
          Question{9, Bytes(2)},
          Answer{9, {}},
          Prepare{ballot, {1, 3}},
          Promise{ballot, {1, 0}, {0, 1}, {2}},
          NotCalled{ballot},
          Outvoted{ballot, {3, 1}},
          Accept{ballot, {0, 1, 2}, {}},
          Accepted{ballot, 1},
          Standing{ballot, {1}, {2, 4}},
          Chosen{{{5}, {6}}, {{6}}}};
}

TEST(MeetingMessage, WhatIsWrittenIsReadAndNoPartOfItIs) {
  for (const MeetingMessage& message : meeting_messages()) {
    const Bytes bytes = encode(message);
    const auto read = parse_meeting_message(bytes);
    ASSERT_TRUE(read) << message.index();
    EXPECT_EQ(*read, message);
    for (std::size_t count = 0; count < bytes.size(); ++count)
      EXPECT_FALSE(parse_meeting_message(std::span(bytes).first(count))) << message.index() << " " << count;
    EXPECT_FALSE(parse_member_message(bytes));
  }
}

TEST(MemberMessage, WhatIsWrittenIsReadAndNoPartOfItIs) {
  for (const MemberBody& body : member_bodies()) {
    const Bytes bytes = encode(MemberMessage{4, body});
    const auto read = parse_member_message(bytes);
    ASSERT_TRUE(read) << body.index();
    EXPECT_EQ(*read, (MemberMessage{4, body}));
    for (std::size_t count = 0; count < bytes.size(); ++count)
      EXPECT_FALSE(parse_member_message(std::span(bytes).first(count))) << body.index() << " " << count;
    EXPECT_FALSE(parse_meeting_message(bytes));
  }
}

TEST(MemberMessage, NamesTheCircleThatItIsSaidIn) {
  const MemberMessage message{4, NotCalled{{3, 1}}, 77};
  const Bytes bytes = encode(message);
  const auto read = parse_member_message(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, message);
  for (std::size_t count = 0; count < bytes.size(); ++count)
    EXPECT_FALSE(parse_member_message(std::span(bytes).first(count))) << count;
  Bytes nameless = bytes;
  std::fill(nameless.begin() + 1, nameless.begin() + 9, std::byte{0});
  EXPECT_FALSE(parse_member_message(nameless)) << "0 is no circle, but all";
}

TEST(MemberMessage, ListsThatDoNotAscendAndCountsThatAreNotThereAreRefused) {
  EXPECT_FALSE(parse_member_message(encode(MemberMessage{1, Accept{{}, {2, 1}, {}}})));
  EXPECT_FALSE(parse_member_message(encode(MemberMessage{1, Accept{{}, {1, 1}, {}}})));
  EXPECT_FALSE(parse_member_message(encode(MemberMessage{1, Accept{{}, {-1}, {}}})));
  EXPECT_FALSE(parse_member_message(encode(MemberMessage{1, Accept{{}, {kRanksMax}, {}}})));
  Bytes bytes = encode(MemberMessage{1, Chosen{}});
  for (std::size_t index = 9; index < 13; ++index) bytes[index] = std::byte{0xff};
  EXPECT_FALSE(parse_member_message(bytes));
}

TEST(Neighbours, AreALogarithmOfTheRanksAtDoublingDistances) {
  const auto nobody = [](Rank) { return false; };
  EXPECT_EQ(neighbours_of(0, 1, nobody), std::set<Rank>{});
  EXPECT_EQ(neighbours_of(0, 2, nobody), std::set<Rank>{1});
  EXPECT_EQ(neighbours_of(0, 16, nobody), (std::set<Rank>{1, 2, 4, 8, 12, 14, 15}));
  EXPECT_LE(neighbours_of(5, 4096, nobody).size(), 24u);
}

TEST(Neighbours, TheNextBeyondOneThatIsGoneTakesItsPlace) {
  EXPECT_EQ(neighbours_of(0, 8, [](Rank rank) { return rank == 4 || rank == 1; }), (std::set<Rank>{2, 3, 5, 6, 7}));
  EXPECT_EQ(neighbours_of(3, 8, [](Rank rank) { return rank != 3; }), std::set<Rank>{});
}

TEST(Notices, AreNewOnceInAnyOrder) {
  Notices notices;
  const auto add = [&](Rank origin, std::uint64_t sequence) { return notices.add({origin, sequence, {}}); };
  EXPECT_TRUE(add(1, 2));
  EXPECT_TRUE(add(1, 1));
  EXPECT_FALSE(add(1, 1));
  EXPECT_FALSE(add(1, 2));
  EXPECT_TRUE(add(2, 1));
  EXPECT_TRUE(add(1, 66));
  EXPECT_FALSE(add(1, 2));
  EXPECT_TRUE(add(1, 65));
  EXPECT_TRUE(add(1, 1000));
  EXPECT_FALSE(add(1, 66));
  EXPECT_TRUE(add(1, 999));
  EXPECT_EQ(notices.recent().size(), 7u);
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) add(3, sequence);
  EXPECT_EQ(notices.recent().size(), 64u);
}

}  // namespace
}  // namespace tutti::bootstrap
