#include "rpc/courier.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>

#include "rpc/courier_for_test.h"
#include "rpc/frame.h"

namespace tutti::rpc {
namespace {

TEST(Courier, CarriesMessagesBothWaysOverOneConnection) {
  Station one, two;
  one.send(two, "question");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "question");
  EXPECT_EQ(two.listener.messages().front().first, one.id());
  two.send(Contact{one.id(), {}}, "answer");  // no address: over the connection that the other one has made
  EXPECT_EQ(one.listener.wait_messages(1).front(), "answer");
  EXPECT_EQ(one.courier->counters().accepted, 0u);
  EXPECT_EQ(two.courier->counters().authenticated, 1u);
}

TEST(Courier, KeepsTheOrderOfManyMessages) {
  Station one, two;
  constexpr int kCount = 2000;
  one.courier->run([&] {
    for (int index = 0; index < kCount; ++index)
      one.world->send(two.courier->contact(), bytes_of(std::to_string(index)));
  });
  const auto texts = two.listener.wait_messages(kCount);
  for (int index = 0; index < kCount; ++index) ASSERT_EQ(texts[static_cast<std::size_t>(index)], std::to_string(index));
}

TEST(Courier, CarriesTheLargestMessageAndAnEmptyOne) {
  Station one, two;
  const std::string large(kMessageBytesMax, 'x');
  one.send(two, large);
  one.send(two, "");
  const auto texts = two.listener.wait_messages(2);
  EXPECT_EQ(texts[0], large);
  EXPECT_EQ(texts[1], "");
  one.send(two, large + "y");
  EXPECT_EQ(one.listener.wait_loss().code, Code::network);
}

TEST(Courier, TellsServicesApart) {
  Station one, two;
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

TEST(Courier, DropsAndCountsMessagesForUnknownServices) {
  Station one(loopback_options(), 9), two;
  one.send(two, "for nobody");
  EXPECT_TRUE(eventually([&] { return two.courier->counters().unknown_services == 1; }));
  EXPECT_TRUE(two.listener.messages().empty());
}

TEST(Courier, LosesAnActorThatHasNeverListened) {
  Station one;
  Contact nobody{{42}, {}};
  {
    const Station gone;
    nobody.addresses = gone.courier->addresses();
  }
  one.send(nobody, "hello");
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.actor, nobody.id);
  EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  EXPECT_NE(loss.text.find(nobody.addresses.front()), std::string::npos) << loss.text;
}

TEST(Courier, LosesAnActorWhoseCourierHasEndedOnBothSidesOfAConnection) {
  auto gone = std::make_unique<Station>();
  Station one, two;
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

TEST(Courier, WakesAtTheLastTimeAskedFor) {
  Station one;
  const Time start = os::now();
  one.courier->run([&] {
    one.world->wake_at(Deadline::never().at);
    one.world->wake_at(Deadline::after(start, std::chrono::milliseconds(3)).at);
  });
  one.listener.wait_wakes(1);
  EXPECT_GE(os::now().ns - start.ns, 3'000'000u);
  EXPECT_EQ(one.listener.wakes(), 1);
}

TEST(Courier, HandsOverDataConnectionsWithTheirAnnouncement) {
  Station one, two;
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

}  // namespace
}  // namespace tutti::rpc
