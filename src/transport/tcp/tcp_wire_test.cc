#include "transport/tcp/tcp_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "os/clock.h"
#include "rpc/courier.h"

namespace tutti::transport {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kValueBytesMax = 1 << 20;

// Two ranks of a communicator of two, connected by so many connections over loopback.
class Pair {
 public:
  explicit Pair(std::size_t rails) {
    for (Rank rank = 0; rank < 2; ++rank) {
      auto& end = ends_[static_cast<std::size_t>(rank)];
      std::array<Remote*, kPorts> ports{};
      for (std::size_t port = 0; port < kPorts; ++port) {
        end.remotes[port] = std::make_unique<Remote>(2, rank, kValueBytesMax, &end.bell);
        ports[port] = end.remotes[port].get();
      }
      end.wire =
          std::make_unique<TcpWire>(ports, rails, [&end](const std::string& text) { end.warnings.push_back(text); });
    }
    const auto secret = rpc::Secret::create();
    for (auto& end : ends_) {
      end.courier = *rpc::Courier::start({.secret = *secret, .listen = {"127.0.0.1:0"}});
    }
    std::mutex mutex;
    std::vector<rpc::Conduit> accepted;
    ends_[1].courier->on_data([&](ActorId, Bytes, rpc::Conduit conduit) {
      const std::lock_guard lock(mutex);
      accepted.push_back(std::move(conduit));
    });
    const Deadline deadline = Deadline::after(os::now(), 20s);
    for (std::size_t rail = 0; rail < rails; ++rail) {
      auto conduit = ends_[0].courier->connect_data(ends_[1].courier->contact(), {}, deadline);
      EXPECT_TRUE(conduit.is_ok()) << conduit.status().text();
      descriptors_.push_back(conduit->fd());
      ends_[0].wire->add(*std::move(conduit), rail, "rail " + std::to_string(rail));
      for (bool has_come = false; !has_come && !deadline.has_passed(os::now());) {
        const std::lock_guard lock(mutex);
        has_come = !accepted.empty();
        if (!has_come) continue;
        ends_[1].wire->add(std::move(accepted.back()), rail, "rail " + std::to_string(rail));
        accepted.pop_back();
      }
    }
  }

  Wire& wire(Rank rank) { return *ends_[static_cast<std::size_t>(rank)].wire; }
  TcpWire& tcp(Rank rank) { return *ends_[static_cast<std::size_t>(rank)].wire; }
  // What `rank` sees of the other.
  Remote& remote(Rank rank, Port port = Port::collective) {
    return *ends_[static_cast<std::size_t>(rank)].remotes[static_cast<std::size_t>(port)];
  }
  std::uint32_t messages(Rank rank, std::uint32_t lane = 0) {
    return remote(rank).block().sent(lane, rank).load(std::memory_order_acquire);
  }
  template <class Done>
  Status progress_until(const Done& done) {
    const Deadline deadline = Deadline::after(os::now(), 20s);
    while (!done()) {
      if (deadline.has_passed(os::now())) return Status(Code::timed_out, "nothing happens any more");
      TUTTI_TRY(wire(0).progress());
      TUTTI_TRY(wire(1).progress());
    }
    return {};
  }
  const std::vector<std::string>& warnings(Rank rank) { return ends_[static_cast<std::size_t>(rank)].warnings; }
  // As if a network had gone: the socket of that connection says nothing any more, to either side.
  void break_rail(std::size_t rail) { ::shutdown(descriptors_[rail], SHUT_RDWR); }

 private:
  struct End {
    Bell bell{};
    std::unique_ptr<rpc::Courier> courier;
    std::array<std::unique_ptr<Remote>, kPorts> remotes;
    std::unique_ptr<TcpWire> wire;
    std::vector<std::string> warnings;
  };
  std::array<End, 2> ends_;
  std::vector<int> descriptors_;
};

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

struct Sending {
  std::vector<std::byte> data;
  std::vector<ChunkBytes> sizes;

  Parcel parcel(std::uint32_t number, std::uint32_t ordinal, std::uint32_t lane = 0) {
    stretches = {{data.data(), data.size()}};
    return {.lane = lane, .number = number, .ordinal = ordinal, .sizes = sizes, .data = stretches};
  }
  std::vector<Stretch> stretches;
};

Sending value_of(Random& random, std::size_t bytes) {
  Sending sending{.data = random_bytes(random, bytes), .sizes = {static_cast<ChunkBytes>(bytes)}, .stretches = {}};
  return sending;
}

void expect_value(Pair& pair, std::uint32_t ordinal, const Sending& sending) {
  const Remote::Value value = pair.remote(1).value(0, ordinal);
  ASSERT_EQ(value.sizes.size(), sending.sizes.size());
  ASSERT_FALSE(value.has_landed);
  EXPECT_TRUE(std::equal(sending.data.begin(), sending.data.end(), value.data)) << "value " << ordinal;
}

class TcpWireRails : public testing::TestWithParam<std::size_t> {};

TEST_P(TcpWireRails, ValuesOfAnySizeArriveWholeAndInOrder) {
  Pair pair(GetParam());
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

TEST_P(TcpWireRails, AValueThatIsExpectedGoesStraightToItsPlace) {
  Pair pair(GetParam());
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

INSTANTIATE_TEST_SUITE_P(Rails, TcpWireRails, testing::Values(1, 2, 3));

TEST(TcpWire, AnAnnouncementComesBeforeTheMessageThatFollowsIt) {
  Pair pair(1);
  const Tag tag = Tag::of(5, 77, 0);
  pair.wire(0).send_entry(Port::collective, {.tag = tag.word, .count = 9, .what = 8, .detail = 7}, false);
  pair.wire(0).send_token(Port::collective, 0, 1);
  ASSERT_TRUE(pair.progress_until([&] { return pair.messages(1) == 1; }));
  EXPECT_EQ(pair.remote(1).block().head().tag.load(), tag.word);
  EXPECT_EQ(pair.remote(1).block().record(5).count.load(), 9u);
}

TEST(TcpWire, WhatWasOnABrokenConnectionIsSentAgainOverTheOthers) {
  for (const int breaks_after : {0, 1, 3}) {
    Pair pair(3);
    Random random(static_cast<std::uint64_t>(breaks_after) + 1);
    std::vector<Sending> sent;
    for (int i = 0; i < 8; ++i) sent.push_back(value_of(random, kValueBytesMax / 2 + static_cast<std::size_t>(i)));
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; i < sent.size(); ++i) {
      if (static_cast<int>(i) == breaks_after) pair.break_rail(i % 3);
      pair.wire(0).send_value(sent[i].parcel(++number, i));
      pair.wire(0).send_token(Port::collective, 0, ++number);
      const Status moved = pair.progress_until([&] { return pair.messages(1) == number; });
      ASSERT_TRUE(moved) << moved.text();
      expect_value(pair, i, sent[i]);
      pair.remote(1).count_taken(0);
      pair.wire(1).send_taken(Port::collective, 0, i + 1, true);
    }
    ASSERT_TRUE(pair.progress_until([&] { return pair.wire(0).is_flushed(); }));
    EXPECT_EQ(pair.tcp(0).rails().size(), 2u);
    EXPECT_EQ(pair.warnings(0).size(), 1u);
  }
}

TEST(TcpWire, WithoutAnyConnectionLeftItFails) {
  Pair pair(1);
  pair.break_rail(0);
  const Status status = pair.progress_until([] { return false; });
  EXPECT_NE(status.code(), Code::timed_out);
  EXPECT_FALSE(status);
}

TEST(TcpWire, AValueThatComesTooEarlyIsRefused) {
  Pair pair(1);
  Random random(3);
  Sending sending = value_of(random, 16);
  Status status;
  for (std::uint32_t i = 0; i <= kInboxValues; ++i) pair.wire(0).send_value(sending.parcel(i + 1, i));
  status = pair.progress_until([&] { return pair.messages(1) > kInboxValues; });
  EXPECT_EQ(status.code(), Code::network) << status.text();
}

}  // namespace
}  // namespace tutti::transport
