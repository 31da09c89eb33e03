// What every kind of wire promises.
#include "transport/wire.h"

#include <cstdlib>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "transport/tcp/tcp_wire.h"
#include "transport/ucx.h"
#include "transport/wire_for_test.h"

namespace tutti::transport {
namespace {

struct Kind {
  std::string name;
  std::size_t rails = 1;
  const char* ucx_transports = nullptr;  // nullptr: TCP without UCX
};

class WireTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam().ucx_transports == nullptr) return;
    // Before it is loaded: where there is only shared memory it complains of what that does not tell.
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    if (const Status status = try_ucx(); !status) GTEST_SKIP() << status.text();
    setenv("UCX_TLS", GetParam().ucx_transports, 1);
  }

  static CreateWire create() {
    if (GetParam().ucx_transports == nullptr) {
      return [](Rank, const auto& ports) {
        return std::make_unique<TcpWire>(ports, GetParam().rails, [](const std::string&) {});
      };
    }
    return [](Rank, const auto& ports) {
      const auto create_ucx_wire = open_ucx();
      TUTTI_ASSERT(create_ucx_wire.is_ok(), "UCX is here");
      return (*create_ucx_wire)(ports);
    };
  }
};

TEST_P(WireTest, ValuesOfAnySizeArriveWholeAndInOrder) {
  WirePair pair(GetParam().rails, create());
  Random random(7);
  std::uint32_t number = 0;
  std::uint32_t ordinal = 0;
  for (const std::size_t bytes : {0, 1, 8, 1000, 1024, 1025, 65536, 300001, 1 << 20, 12}) {
    Sending sending = value_of(random, bytes);
    pair.wire(0).send_value(sending.parcel(++number, ordinal));
    pair.wire(0).send_token(Port::collective, 0, ++number);
    ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == number; })) << bytes;
    expect_value(pair, ordinal, sending);
    ++ordinal;
    pair.remote(1).count_taken(0);
    pair.wire(1).send_taken(Port::collective, 0, ordinal, true);
    ASSERT_TRUE(pair.progress_until([&] { return pair.wire(0).is_flushed(); }));
    ASSERT_TRUE(pair.progress_until([&] { return pair.remote(0).taken_by_other(0) == ordinal; }));
    EXPECT_EQ(pair.wire(0).values_gone(Port::collective, 0), ordinal);
  }
}

TEST_P(WireTest, AValueThatIsExpectedGoesStraightToItsPlace) {
  WirePair pair(GetParam().rails, create());
  Random random(8);
  Sending sending = value_of(random, 500000);
  sending.sizes = {200000, 300000};
  std::vector<std::byte> first(200000);
  std::vector<std::byte> second(300000);
  const Stretch places[] = {{first.data(), first.size()}, {second.data(), second.size()}};
  pair.remote(1).expect(0, 0, places);
  pair.wire(0).send_value(sending.parcel(1, 0));
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 1; }));
  EXPECT_TRUE(pair.remote(1).value(0, 0).has_landed);
  EXPECT_EQ(std::memcmp(first.data(), sending.data.data(), first.size()), 0);
  EXPECT_EQ(std::memcmp(second.data(), sending.data.data() + first.size(), second.size()), 0);
}

TEST_P(WireTest, AnAnnouncementComesBeforeTheMessageThatFollowsIt) {
  WirePair pair(GetParam().rails, create());
  const Tag tag = Tag::of(5, 77, 0);
  pair.wire(0).send_entry(Port::collective, {.tag = tag.word, .count = 9, .what = 8, .detail = 7}, false);
  pair.wire(0).send_token(Port::collective, 0, 1);
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 1; }));
  EXPECT_EQ(pair.remote(1).block().head().tag.load(), tag.word);
  EXPECT_EQ(pair.remote(1).block().record(5).count.load(), 9u);
}

TEST_P(WireTest, WhereNoConnectionWillComeItFailsAndSaysWhy) {
  WirePair pair(0, create());
  pair.wire(0).send_token(Port::collective, 0, 1);
  EXPECT_FALSE(pair.wire(0).is_flushed());
  pair.wire(0).fail({Code::network, "nobody answers"});
  EXPECT_EQ(pair.wire(0).progress().text(), "nobody answers");
  EXPECT_TRUE(pair.wire(0).is_flushed());
}

TEST_P(WireTest, AConnectionThatAnswersIsKeptAndOwesNothing) {
  WirePair pair(GetParam().rails, create());
  pair.wire(0).send_token(Port::collective, 0, 1);
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 1; }));
  ASSERT_TRUE(pair.progress_until([&] { return !pair.wire(0).has_unacknowledged(); }));
  for (const Rank rank : {0, 1}) pair.wire(rank).drop_unanswered(std::chrono::milliseconds(0));
  pair.wire(0).send_token(Port::collective, 0, 2);
  EXPECT_TRUE(pair.progress_until([&] { return pair.messages(1) == 2; }));
}

TEST_P(WireTest, WithoutAnyConnectionLeftItFails) {
  WirePair pair(GetParam().rails, create());
  for (std::size_t rail = 0; rail < GetParam().rails; ++rail) pair.break_rail(rail);
  const Status status = pair.progress_until([] { return false; });
  EXPECT_NE(status.code(), Code::timed_out);
  EXPECT_FALSE(status);
}

TEST_P(WireTest, AValueThatComesTooEarlyIsRefused) {
  WirePair pair(GetParam().rails, create());
  Random random(3);
  Sending sending = value_of(random, 16);
  Status status;
  for (std::uint32_t i = 0; i <= kInboxValues; ++i) pair.wire(0).send_value(sending.parcel(i + 1, i));
  status = pair.progress_until([&] { return pair.messages(1) > kInboxValues; });
  EXPECT_EQ(status.code(), Code::network) << status.text();
}

// Pieces that do not touch each other, so that nobody can take them for one.
struct Scattered {
  Scattered(Random& random, std::size_t count, std::size_t bytes_each) {
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(random_bytes(random, bytes_each));
    for (std::vector<std::byte>& piece : pieces) stretches.push_back({piece.data(), piece.size()});
  }
  std::vector<std::byte> joined() const {
    std::vector<std::byte> all;
    for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    return all;
  }

  std::vector<std::vector<std::byte>> pieces;
  std::vector<Stretch> stretches;
};

TEST_P(WireTest, AValueInManyPiecesGoesToOtherPieces) {
  WirePair pair(GetParam().rails, create());
  Random random(9);
  std::uint32_t ordinal = 0;
  constexpr std::array<std::size_t, 3> kCases[] = {{3, 100000, 2}, {5, 60000, 1}, {40, 20000, 4}, {4, 1500, 3}};
  for (const auto& [sent_count, sent_bytes, place_count] : kCases) {
    const Scattered sent(random, sent_count, sent_bytes);
    const Scattered places(random, place_count, sent_count * sent_bytes / place_count);
    const std::vector<ChunkBytes> sizes(sent_count, static_cast<ChunkBytes>(sent_bytes));
    pair.remote(1).expect(0, ordinal, places.stretches);
    pair.wire(0).send_value({.number = ordinal + 1, .ordinal = ordinal, .sizes = sizes, .data = sent.stretches});
    ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == ordinal + 1; })) << ordinal;
    ASSERT_TRUE(pair.remote(1).value(0, ordinal).has_landed);
    EXPECT_EQ(places.joined(), sent.joined()) << ordinal;
    ++ordinal;
    pair.remote(1).count_taken(0);
    pair.wire(1).send_taken(Port::collective, 0, ordinal, true);
    ASSERT_TRUE(pair.progress_until([&] { return pair.remote(0).taken_by_other(0) == ordinal; }));
  }
}

TEST_P(WireTest, AValueMayHaveMoreChunksThanAHeaderHolds) {
  WirePair pair(GetParam().rails, create());
  Random random(10);
  Sending sending = value_of(random, 60000);
  sending.sizes.assign(20000, 3);
  pair.wire(0).send_value(sending.parcel(1, 0));
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 1; }));
  expect_value(pair, 0, sending);
}

TEST_P(WireTest, SmallValuesDoNotWaitUntilTheyAreTaken) {
  WirePair pair(GetParam().rails, create());
  Random random(14);
  for (std::uint32_t i = 0; i < kInboxValues; ++i) {
    Sending sending = value_of(random, 64);
    pair.wire(0).send_value(sending.parcel(i + 1, i));
    ASSERT_TRUE(pair.progress_until([&] { return pair.wire(0).is_flushed() && pair.messages(1) == i + 1; }));
    EXPECT_EQ(pair.wire(0).values_gone(Port::collective, 0), i + 1);
    expect_value(pair, i, sending);
  }
}

TEST_P(WireTest, WhatWasSentBeforeAnEndStillComes) {
  WirePair pair(GetParam().rails, create());
  Random random(12);
  Sending sending = value_of(random, 20000);
  std::thread leaving([&] {
    pair.wire(0).send_value(sending.parcel(1, 0));
    pair.wire(0).send_token(Port::collective, 0, 2);
    while (!pair.wire(0).is_flushed()) ASSERT_TRUE(pair.wire(0).progress());
    pair.wire(0).close();
  });
  const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
  Status status;
  bool has_taken = !pair.wire(1).keeps(20000);  // whoever keeps values waits for that
  while (status && !deadline.has_passed(os::now())) {
    status = pair.wire(1).progress();
    if (pair.messages(1) != 2 || std::exchange(has_taken, true)) continue;
    pair.remote(1).count_taken(0);
    pair.wire(1).send_taken(Port::collective, 0, 1, true);
  }
  leaving.join();
  EXPECT_FALSE(status) << "the other side has gone";
  EXPECT_EQ(pair.messages(1), 2u) << status.text();
}

TEST_P(WireTest, NoMemoryIsTouchedAfterItIsClosed) {
  WirePair pair(GetParam().rails, create());
  Random random(13);
  Sending sending = value_of(random, kValueBytesMax);
  std::vector<std::byte> place(kValueBytesMax);
  const Stretch places[] = {{place.data(), place.size()}};
  pair.remote(1).expect(0, 0, places);
  pair.wire(0).send_value(sending.parcel(1, 0));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.progress_once());
  pair.remote(1).expect_nothing();
  pair.wire(1).close();
  const std::vector<std::byte> before = place;
  for (int i = 0; i < 1000 && pair.wire(0).progress(); ++i) continue;
  EXPECT_EQ(place, before);
  pair.wire(0).close();
  EXPECT_TRUE(pair.wire(0).is_flushed());
}

class UcxWireTest : public WireTest {};

TEST_P(UcxWireTest, ValuesAreGoneInTheirOrder) {
  WirePair pair(GetParam().rails, create());
  Random random(11);
  Sending large = value_of(random, kValueBytesMax);
  Sending small = value_of(random, 8);
  pair.wire(0).send_value(large.parcel(1, 0));
  pair.wire(0).send_value(small.parcel(2, 1));
  // The other side does nothing, so the large one cannot have gone.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pair.wire(0).progress());
  EXPECT_EQ(pair.wire(0).values_gone(Port::collective, 0), 0u);
  EXPECT_FALSE(pair.wire(0).is_flushed());
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 2; }));
  expect_value(pair, 0, large);
  expect_value(pair, 1, small);
}

std::string name_of(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }

const Kind kUcxOverTcp{"ucx_tcp", 1, "tcp,self"};
const Kind kUcxInMemory{"ucx_shm", 1, "shm,self"};
INSTANTIATE_TEST_SUITE_P(Kinds, WireTest,
                         testing::Values(Kind{"tcp_1", 1}, Kind{"tcp_2", 2}, Kind{"tcp_3", 3}, kUcxOverTcp,
                                         kUcxInMemory),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, UcxWireTest, testing::Values(kUcxOverTcp, kUcxInMemory), name_of);

}  // namespace
}  // namespace tutti::transport
