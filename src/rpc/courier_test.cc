#include "rpc/courier.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <thread>

#include "rpc/courier_for_test.h"
#include "rpc/frame.h"

namespace tutti::rpc {
namespace {

class Couriers : public testing::TestWithParam<Encryption> {
 protected:
  CourierOptions options() const {
    CourierOptions options = loopback_options();
    options.encryption = GetParam();
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(All, Couriers, testing::Values(Encryption::off, Encryption::on),
                         [](const auto& chosen) { return chosen.param == Encryption::on ? "Encrypted" : "Plain"; });

TEST_P(Couriers, CarriesMessagesBothWaysOverOneConnection) {
  Station one(options()), two(options());
  one.send(two, "question");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "question");
  EXPECT_EQ(two.listener.messages().front().first, one.id());
  two.send(Contact{one.id(), {}}, "answer");  // no address: over the connection that the other one has made
  EXPECT_EQ(one.listener.wait_messages(1).front(), "answer");
  EXPECT_EQ(one.courier->counters().accepted, 0u);
  EXPECT_EQ(two.courier->counters().authenticated, 1u);
}

TEST_P(Couriers, KeepsTheOrderOfManyMessages) {
  Station one(options()), two(options());
  constexpr int kCount = 2000;
  one.courier->run([&] {
    for (int index = 0; index < kCount; ++index)
      one.world->send(two.courier->contact(), bytes_of(std::to_string(index)));
  });
  const auto texts = two.listener.wait_messages(kCount);
  for (int index = 0; index < kCount; ++index) ASSERT_EQ(texts[static_cast<std::size_t>(index)], std::to_string(index));
}

TEST_P(Couriers, CarriesTheLargestMessageAndAnEmptyOne) {
  Station one(options()), two(options());
  const std::string large(kMessageBytesMax, 'x');
  one.send(two, large);
  one.send(two, "");
  const auto texts = two.listener.wait_messages(2);
  EXPECT_EQ(texts[0], large);
  EXPECT_EQ(texts[1], "");
  one.send(two, large + "y");
  EXPECT_EQ(one.listener.wait_loss().code, Code::network);
}

TEST_P(Couriers, TellsServicesApart) {
  Station one(options()), two(options());
  Listener other;
  auto world = two.courier->attach(8, other);
  ASSERT_TRUE(world);
  EXPECT_EQ(two.courier->attach(8, other).status().code(), Code::invalid_usage);
  Listener sender;
  auto sending = one.courier->attach(8, sender);
  one.courier->run([&] { (*sending)->send(two.courier->contact(), bytes_of("eight")); });
  one.send(two, "seven");
  EXPECT_EQ(other.wait_messages(1).front(), "eight");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "seven");
}

TEST_P(Couriers, DropsAndCountsMessagesForUnknownServices) {
  Station one(options(), 9), two(options());
  one.send(two, "for nobody");
  EXPECT_TRUE(eventually([&] { return two.courier->counters().unknown_services == 1; }));
  EXPECT_TRUE(two.listener.messages().empty());
}

TEST_P(Couriers, LosesAnActorThatHasNeverListened) {
  Station one(options());
  Contact nobody{{42}, {}};
  {
    const Station gone(options());
    nobody.addresses = gone.courier->addresses();
  }
  one.send(nobody, "hello");
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.actor, nobody.id);
  EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  EXPECT_NE(loss.text.find(nobody.addresses.front()), std::string::npos) << loss.text;
}

TEST_P(Couriers, LosesAnActorWhoseCourierHasEndedOnBothSidesOfAConnection) {
  auto gone = std::make_unique<Station>(options());
  Station one(options()), two(options());
  one.send(*gone, "from one");
  EXPECT_EQ(gone->listener.wait_messages(1).front(), "from one");
  gone->send(two, "to two");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "to two");
  const ActorId id = gone->id();
  gone->world.reset();
  gone.reset();
  for (Station* station : {&one, &two}) {
    const auto loss = station->listener.wait_loss();
    EXPECT_EQ(loss.actor, id);
    EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  }
}

TEST_P(Couriers, WakesAtTheLastTimeAskedFor) {
  Station one(options());
  const Time start = os::now();
  one.courier->run([&] {
    one.world->wake_at(Deadline::never().at);
    one.world->wake_at(Deadline::after(start, std::chrono::milliseconds(3)).at);
  });
  one.listener.wait_wakes(1);
  EXPECT_GE(os::now().ns - start.ns, 3'000'000u);
  EXPECT_EQ(one.listener.wakes(), 1);
}

TEST_P(Couriers, HandsOverDataConnectionsWithTheirAnnouncement) {
  Station one(options()), two(options());
  std::promise<std::pair<ActorId, std::string>> announced;
  std::promise<Conduit> accepted;
  two.courier->on_data([&](ActorId from, Bytes announcement, Conduit conduit) {
    announced.set_value({from, text_of(announcement)});
    accepted.set_value(std::move(conduit));
  });
  auto conduit = one.courier->connect_data(two.courier->contact(), {bytes_of("lane 3"), {}}, soon());
  ASSERT_TRUE(conduit) << conduit.status().text();
  EXPECT_EQ(announced.get_future().get(), std::make_pair(one.id(), std::string("lane 3")));
  Conduit other = accepted.get_future().get();
  Bytes received(5);
  ASSERT_TRUE(conduit->write_all(bytes_of("bytes"), soon()));
  ASSERT_TRUE(other.read_exactly(received, soon()));
  EXPECT_EQ(text_of(received), "bytes");
  { const Conduit closed = std::move(other); }
  const Status end = conduit->read_exactly(received, soon());
  EXPECT_EQ(end.code(), Code::peer_lost);
  EXPECT_NE(end.text().find("closed by 127.0.0.1:"), std::string_view::npos) << end.text();
}

TEST_P(Couriers, CarryALotOfDataBothWaysAtOnceOverADataConnection) {
  Station one(options()), two(options());
  std::promise<Conduit> accepted;
  two.courier->on_data([&](ActorId, Bytes, Conduit conduit) { accepted.set_value(std::move(conduit)); });
  auto conduit = one.courier->connect_data(two.courier->contact(), {}, soon());
  ASSERT_TRUE(conduit) << conduit.status().text();
  Conduit other = accepted.get_future().get();
  EXPECT_EQ(conduit->is_encrypted(), GetParam() == Encryption::on);
  Bytes sent(std::size_t{8} << 20);
  for (std::size_t index = 0; index < sent.size(); ++index) sent[index] = static_cast<std::byte>(index * 31 >> 3);
  // Non-blocking on both sides, in odd pieces: what one takes the other gives.
  Bytes there(sent.size()), back(sent.size());
  std::array<std::size_t, 4> done{};  // written and read by one, written and read by the other
  const auto write = [&](Conduit& to, std::size_t& count) {
    if (count == sent.size()) {
      ASSERT_TRUE(to.flush());
      return;
    }
    const std::size_t half = std::min<std::size_t>(sent.size() - count, 7);
    const std::size_t rest = std::min<std::size_t>(sent.size() - count - half, 100'003);
    const std::array<iovec, 2> parts = {iovec{sent.data() + count, half}, iovec{sent.data() + count + half, rest}};
    const auto written = to.write(parts);
    ASSERT_TRUE(written) << written.status().text();
    count += *written;
  };
  const auto read = [&](Conduit& from, Bytes& to, std::size_t& count) {
    if (count == to.size()) return;
    const std::size_t half = std::min<std::size_t>(to.size() - count, 1'001);
    const std::size_t rest = std::min<std::size_t>(to.size() - count - half, 65'537);
    const std::array<iovec, 2> parts = {iovec{to.data() + count, half}, iovec{to.data() + count + half, rest}};
    const auto received = from.read(parts);
    ASSERT_TRUE(received) << received.status().text();
    count += *received;
  };
  const Deadline deadline = soon();
  while ((done[1] < back.size() || done[3] < there.size()) && !deadline.has_passed(os::now())) {
    ASSERT_NO_FATAL_FAILURE(write(*conduit, done[0]));
    ASSERT_NO_FATAL_FAILURE(read(*conduit, back, done[1]));
    ASSERT_NO_FATAL_FAILURE(write(other, done[2]));
    ASSERT_NO_FATAL_FAILURE(read(other, there, done[3]));
  }
  EXPECT_EQ(there, sent);
  EXPECT_EQ(back, sent);
}

TEST_P(Couriers, RefuseAnAnnouncementThatIsTooLong) {
  Station one(options()), two(options());
  const auto conduit = one.courier->connect_data(two.courier->contact(), {Bytes(257), {}}, soon());
  EXPECT_EQ(conduit.status().code(), Code::invalid_argument);
  EXPECT_TRUE(one.courier->connect_data(two.courier->contact(), {Bytes(256), {}}, soon()));
  EXPECT_TRUE(eventually([&] { return two.courier->counters().unwanted_data == 1; }));
}

TEST_P(Couriers, KeepTheOrderWhenBothConnectAtOnce) {
  for (int round = 0; round < 20; ++round) {
    Station one(options()), two(options());
    constexpr std::size_t kCount = 50;
    const auto talk = [](Station& from, const Contact& to) {
      for (std::size_t index = 0; index < kCount; ++index) from.send(to, std::to_string(index));
    };
    std::thread other([&] { talk(two, one.courier->contact()); });
    talk(one, two.courier->contact());
    other.join();
    for (Station* station : {&one, &two}) {
      const auto texts = station->listener.wait_messages(kCount);
      for (std::size_t index = 0; index < kCount; ++index) ASSERT_EQ(texts[index], std::to_string(index));
      EXPECT_TRUE(station->listener.losses().empty());
    }
  }
}

TEST_P(Couriers, CloseForgottenConnectionsAfterWhatWasSentAndMakeNewOnes) {
  Station one(options()), two(options());
  for (std::uint64_t round = 1; round <= 5; ++round) {
    one.send(two, "question");
    two.listener.wait_messages(round);
    two.send(one, "answer");
    two.forget(one);
    one.listener.wait_messages(round);
    one.send(two.courier->contact(), "");  // crosses the goodbye of the other side
    one.forget(two);
    two.listener.wait_messages(round);
    two.forget(one);
  }
  EXPECT_TRUE(eventually([&] { return two.listener.messages().size() == 10; }));
  EXPECT_TRUE(one.listener.losses().empty());
  EXPECT_TRUE(two.listener.losses().empty());
}

TEST_P(Couriers, SendWhatIsQueuedBeforeTheyEnd) {
  Station two(options());
  const std::string text(std::size_t{4} << 20, 'x');
  {
    Station one(options());
    one.send(two, "warm up");
    two.listener.wait_messages(1);
    one.courier->run([&] {
      one.world->send(two.courier->contact(), bytes_of(text));
      one.world->send(two.courier->contact(), bytes_of("last"));
    });
  }
  EXPECT_EQ(two.listener.wait_messages(3).back(), "last");
}

TEST_P(Couriers, CallNobodyAfterDetaching) {
  Station one(options()), two(options());
  for (int round = 0; round < 50; ++round) {
    auto listener = std::make_unique<Listener>();
    auto world = two.courier->attach(9, *listener);
    ASSERT_TRUE(world);
    Listener sender;
    auto sending = one.courier->attach(9, sender);
    one.courier->run([&] {
      for (int index = 0; index < 20; ++index) (*sending)->send(two.courier->contact(), bytes_of("x"));
    });
    two.courier->run([&] { (*world)->wake_at(os::now()); });
    world->reset();
    listener.reset();  // a call after this would be seen by the sanitizers
  }
}

TEST_P(Couriers, TalkOverIpv6) {
  if (!os::TcpListener::listen(*os::TcpAddress::parse("[::1]:0"), {})) GTEST_SKIP() << "this machine has no IPv6";
  CourierOptions ipv6 = options();
  ipv6.listen = {"[::1]:0", "127.0.0.1:0"};
  Station one(ipv6), two(ipv6);
  ASSERT_TRUE(two.courier->addresses().front().starts_with("[::1]:"));
  one.send(two, "hello");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "hello");
}

}  // namespace
}  // namespace tutti::rpc
