// What actors hear when others die, hang or come back as somebody else.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "os/file_descriptor.h"
#include "rpc/courier_for_test.h"
#include "rpc/frame.h"

namespace tutti::rpc {
namespace {

// A process with a courier, made before there are threads here; ends when it is killed.
class Child {
 public:
  Child() {
    std::array<int, 2> up{}, down{};
    static_cast<void>(test_secret());  // the same on both sides
    EXPECT_EQ(::pipe(up.data()) + ::pipe(down.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) live(down[0], up[1]);
    contact = read_contact(up[0]);
    to_child_ = os::FileDescriptor(down[1]);
    for (const int end : {up[0], up[1], down[0]}) ::close(end);
  }
  ~Child() { kill(); }
  void call(const Contact& whom) const { write_contact(to_child_.get(), whom); }
  // Until it has stopped: on another core it would go on for a moment.
  void stop() const {
    ::kill(pid_, SIGSTOP);
    int state = 0;
    ASSERT_EQ(::waitpid(pid_, &state, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(state));
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  Contact contact;

 private:
  static void write_contact(int pipe, const Contact& contact) {
    const std::string text = std::to_string(contact.id.value) + " " + contact.addresses.front();
    EXPECT_EQ(::write(pipe, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  static Contact read_contact(int pipe) {
    std::array<char, 256> line{};
    const ssize_t count = ::read(pipe, line.data(), line.size());
    const std::string text(line.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos) return {};
    return {{std::stoull(text.substr(0, blank))}, {text.substr(blank + 1)}};
  }
  [[noreturn]] static void live(int in, int out) {
    Station station;
    write_contact(out, station.courier->contact());
    const Contact whom = read_contact(in);
    if (whom.id.value != 0) station.send(whom, "from the child");
    while (true) ::pause();
  }

  pid_t pid_ = 0;
  os::FileDescriptor to_child_;
};

TEST(Loss, OfAKilledProcessIsHeardQuicklyByWhoConnectedToIt) {
  Child child;
  Station one;
  one.send(child.contact, "hello");
  const auto data = one.courier->connect_data(child.contact, {}, soon());  // by now the message has gone as well
  EXPECT_TRUE(data) << data.status().text();
  const Time start = os::now();
  child.kill();
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  EXPECT_EQ(loss.actor, child.contact.id);
  EXPECT_LT(os::now().ns - start.ns, 1'000'000'000u);
}

TEST(Loss, OfAKilledProcessIsHeardQuicklyByWhomItConnectedTo) {
  // The child is made before there is a thread here, and is told later whom to call.
  Child child;
  Station station;
  child.call(station.courier->contact());
  EXPECT_EQ(station.listener.wait_messages(1).front(), "from the child");
  const Time start = os::now();
  child.kill();
  const auto loss = station.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  EXPECT_EQ(loss.actor, child.contact.id);
  EXPECT_LT(os::now().ns - start.ns, 1'000'000'000u);
}

TEST(Loss, OfAStoppedProcessIsOfTheNetwork) {
  Child child;
  child.stop();
  CourierOptions options = loopback_options();
  options.connect_time = std::chrono::milliseconds(50);
  Station one(options);
  one.send(child.contact, "hello");
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::network) << loss.text;
  EXPECT_NE(loss.text.find(child.contact.addresses.front()), std::string::npos) << loss.text;
}

TEST(Loss, OfAnActorWhosePortSomebodyElseHasTakenIsAnEnd) {
  Station one;
  auto before = std::make_unique<Station>();
  const Contact old = before->courier->contact();
  one.send(old, "hello");
  before->listener.wait_messages(1);
  before.reset();
  EXPECT_EQ(one.listener.wait_loss().code, Code::peer_lost);
  CourierOptions options = loopback_options();
  options.listen = old.addresses;
  Station after(options);
  one.send(old, "are you there");
  const auto loss = one.listener.wait_loss(1);
  EXPECT_EQ(loss.code, Code::peer_lost) << loss.text;
  EXPECT_NE(loss.text.find("another process of this job"), std::string::npos) << loss.text;
  one.send(after, "then you");
  EXPECT_EQ(after.listener.wait_messages(1).front(), "then you");
}

TEST(Loss, OfAConnectionWhosePeerLivesIsOfTheNetworkAndOthersFollow) {
  Station one;
  auto listener = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  const Contact fake{{5}, {listener->address().text()}};
  const auto credentials = Credentials::create(test_secret(), Encryption::off, fake.id);
  const auto accept = [&] { return greet(Greeting::of_acceptor(*listener->accept(soon()), *credentials)); };
  one.send(fake, "first");
  { const auto greeted = accept(); }  // and closes
  auto again = accept();
  ASSERT_TRUE(again) << again.status().text();
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::network) << loss.text;
  EXPECT_NE(loss.text.find("reached again"), std::string::npos) << loss.text;
  one.send(fake, "second");
  FrameReader reader;
  std::array<std::byte, 1> byte{};
  for (std::string text; text != "second";) {
    ASSERT_TRUE(again->conduit.read_exactly(byte, soon()));
    std::span<const std::byte> rest(byte);
    auto frame = reader.take(rest);
    ASSERT_TRUE(frame);
    if (*frame && (*frame)->header.kind == FrameKind::message) text = text_of((*frame)->body);
  }
}

TEST(Loss, OfAPeerThatTakesNothingComesWhenTheQueueIsFull) {
  CourierOptions options = loopback_options();
  options.queue_bytes_max = std::size_t{1} << 20;
  Station one(options);
  const auto credentials = Credentials::create(test_secret(), Encryption::off, ActorId{6});
  auto greeted = greet(Greeting::of_connector(connect_to(one), *credentials, Purpose::control, {}));
  ASSERT_TRUE(greeted) << greeted.status().text();
  ASSERT_TRUE(eventually([&] { return one.courier->counters().authenticated == 1; }));
  const std::string text(std::size_t{512} << 10, 'x');
  for (int count = 0; count < 200 && one.listener.losses().empty(); ++count) one.send(Contact{{6}, {}}, text);
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::network);
  EXPECT_NE(loss.text.find("has not taken 1 MiB"), std::string::npos) << loss.text;
  EXPECT_EQ(one.courier->counters().full_queues, 1u);
}

TEST(Loss, OfAnUnknownActorWithoutAnAddressIsOfTheNetwork) {
  Station one;
  one.send(Contact{{77}, {}}, "anybody?");
  const auto loss = one.listener.wait_loss();
  EXPECT_EQ(loss.code, Code::network);
  EXPECT_NE(loss.text.find("no address of it is known"), std::string::npos) << loss.text;
}

TEST(Loss, IsHeardBeforeAnythingSentLaterArrives) {
  Station one, two;
  Contact wrong{two.id(), {}};
  {
    Station gone;
    wrong.addresses = gone.courier->addresses();
  }
  one.courier->run([&] {
    one.world->send(wrong, bytes_of("lost"));
    one.world->send(wrong, bytes_of("lost too"));
  });
  one.listener.wait_loss();
  one.send(two, "arrives");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "arrives");
}

TEST(Dialling, TriesTheNextAddressBesideOneThatDoesNotAnswer) {
  Station one, two;
  const auto silent = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  Contact contact = two.courier->contact();
  contact.addresses.insert(contact.addresses.begin(), {"no address", silent->address().text()});
  const Time start = os::now();
  one.send(contact, "hello");
  EXPECT_EQ(two.listener.wait_messages(1).front(), "hello");
  EXPECT_LT(os::now().ns - start.ns, 2'000'000'000u);  // a wait for the silent one would take 5 s
  two.courier->on_data([](ActorId, Bytes, const Conduit&) {});
  EXPECT_TRUE(one.courier->connect_data(contact, {}, soon()));
}

TEST(Dialling, OfDataEndsAtItsDeadlineAndSaysWhere) {
  Station one;
  const auto silent = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  const std::string address = silent->address().text();
  const auto late = one.courier->connect_data({{1}, {address}}, {}, soon(std::chrono::milliseconds(20)));
  EXPECT_EQ(late.status().code(), Code::timed_out);
  EXPECT_NE(late.status().text().find(address), std::string_view::npos) << late.status().text();
  const auto from = one.courier->connect_data({{1}, {address}}, {{}, "192.0.2.1"}, soon());
  EXPECT_EQ(from.status().code(), Code::network);
  EXPECT_NE(from.status().text().find("192.0.2.1"), std::string_view::npos) << from.status().text();
}

}  // namespace
}  // namespace tutti::rpc
