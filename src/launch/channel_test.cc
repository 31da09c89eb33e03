#include "launch/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "launch/message.h"
#include "os/clock.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::seconds kLimit(20);

struct Ends {
  std::unique_ptr<Duct> one, other;
};

Ends pipes() {
  int there[2], back[2];
  if (::pipe2(there, O_CLOEXEC) != 0 || ::pipe2(back, O_CLOEXEC) != 0) return {};
  ::signal(SIGPIPE, SIG_IGN);
  return {create_pipe_duct(os::FileDescriptor(back[0]), os::FileDescriptor(there[1])),
          create_pipe_duct(os::FileDescriptor(there[0]), os::FileDescriptor(back[1]))};
}
Ends sockets() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return {};
  return {create_socket_duct(os::FileDescriptor(pair[0])), create_socket_duct(os::FileDescriptor(pair[1]))};
}

struct Listener final : Channel::Owner {
  std::vector<Envelope> heard = {};
  Status ended = {};
  bool has_ended = false;
  int drained_count = 0;

  void take(Channel& channel, std::span<const std::byte> bytes) override {
    auto envelope = parse_envelope(bytes);
    ASSERT_TRUE(envelope) << envelope.status().text();
    heard.push_back(*std::move(envelope));
    if (stops_reading) channel.set_reading(false);
  }
  void end(Channel&, const Status& why) override {
    ended = why;
    has_ended = true;
  }
  void drained(Channel&) override { ++drained_count; }
  bool stops_reading = false;
};

class Channels : public testing::TestWithParam<Ends (*)()> {
 protected:
  void SetUp() override {
    auto created = os::EventLoop::create();
    ASSERT_TRUE(created);
    loop = *std::move(created);
    ends = GetParam()();
    ASSERT_TRUE(ends.one && ends.other);
  }
  bool until(const std::function<bool()>& is_done) {
    return loop->run_until(is_done, Deadline::after(os::now(), kLimit));
  }
  static Bytes output(std::size_t bytes, Rank rank = 0) {
    return encode({.host = 1, .message = Output{.rank = rank, .stream = Stream::out, .bytes = Bytes(bytes)}});
  }

  std::unique_ptr<os::EventLoop> loop;
  Ends ends;
  Listener first, second;
};

TEST_P(Channels, CarryMessagesOfAllSizesBothWays) {
  Channel one(*loop, std::move(ends.one), Greets::writes, first);
  Channel other(*loop, std::move(ends.other), Greets::expects, second);
  one.start();
  other.start();
  const std::vector<std::size_t> sizes = {0, 1, 100, 65536, kOutputBytesMax, 3};
  for (const std::size_t size : sizes) {
    one.send(output(size));
    other.send(output(size));
  }
  EXPECT_TRUE(until([&] { return first.heard.size() == sizes.size() && second.heard.size() == sizes.size(); }));
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    EXPECT_EQ(std::get<Output>(first.heard[index].message).bytes.size(), sizes[index]);
    EXPECT_EQ(std::get<Output>(second.heard[index].message).bytes.size(), sizes[index]);
  }
  EXPECT_EQ(one.queued_bytes(), 0u);
}

TEST_P(Channels, SkipWhatALoginShellPrints) {
  const std::string noise = "Welcome to gpu12!\ntutti-agent?\n";
  ASSERT_TRUE(ends.one->write(bytes_of(noise)));
  Channel one(*loop, std::move(ends.one), Greets::writes, first);
  Channel other(*loop, std::move(ends.other), Greets::expects, second);
  one.start();
  other.start();
  one.send(output(5));
  EXPECT_TRUE(until([&] { return second.heard.size() == 1; }));
  EXPECT_TRUE(other.has_greeted());
  EXPECT_EQ(other.noise(), noise);
}

TEST_P(Channels, EndWhereNoAgentAnswers) {
  Channel other(*loop, std::move(ends.other), Greets::expects, second);
  other.start();
  const std::string line(1000, 'x');
  for (int turn = 0; turn < 1000 && !second.has_ended; ++turn) {
    (void)ends.one->write(bytes_of(line));
    until([&] { return true; });
    loop->run_until([] { return false; }, Deadline::after(os::now(), std::chrono::microseconds(100)));
  }
  EXPECT_TRUE(second.has_ended);
  EXPECT_NE(second.ended.text().find("no agent"), std::string_view::npos) << second.ended.text();
  EXPECT_LE(other.noise().size(), 2 * Channel::kNoiseMax + (std::size_t{256} << 10));
}

TEST_P(Channels, EndWithBytesThatAreNoLength) {
  Channel other(*loop, std::move(ends.other), Greets::no, second);
  other.start();
  ASSERT_TRUE(ends.one->write(bytes_of("\xff\xff\xff\xff and more")));
  EXPECT_TRUE(until([&] { return second.has_ended; }));
  EXPECT_EQ(second.ended.code(), Code::network);
}

TEST_P(Channels, SayWhenTheOtherSideHasClosed) {
  Channel other(*loop, std::move(ends.other), Greets::no, second);
  other.start();
  {
    Channel one(*loop, std::move(ends.one), Greets::no, first);
    one.start();
    one.send(output(10));
    one.finish();
    EXPECT_TRUE(until([&] { return second.has_ended; }));
    other.send(output(10));
  }
  EXPECT_EQ(second.heard.size(), 1u);
  EXPECT_EQ(second.ended.code(), Code::peer_lost);
}

TEST_P(Channels, AreFullUntilTheOtherSideReads) {
  Channel one(*loop, std::move(ends.one), Greets::no, first);
  Channel other(*loop, std::move(ends.other), Greets::no, second);
  one.start();
  other.start();
  other.set_reading(false);
  std::size_t count = 0;
  while (!one.is_full()) {
    one.send(output(kOutputBytesMax / 2));
    ++count;
  }
  loop->run_until([] { return false; }, Deadline::after(os::now(), std::chrono::milliseconds(20)));
  EXPECT_TRUE(second.heard.empty());
  EXPECT_EQ(first.drained_count, 0);
  other.set_reading(true);
  EXPECT_TRUE(until([&] { return second.heard.size() == count; }));
  EXPECT_EQ(first.drained_count, 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Channels, testing::Values(pipes, sockets),
                         [](const auto& kind) { return kind.index == 0 ? "pipes" : "sockets"; });

}  // namespace
}  // namespace tutti::launch
