#include "rpc/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "base/random.h"

namespace tutti::rpc {
namespace {

Secret secret_of(unsigned char fill) {
  std::array<std::byte, Secret::kBytes> bytes{};
  bytes.fill(std::byte{fill});
  return Secret(std::span<const std::byte, Secret::kBytes>(bytes));
}

Hello hello_of(Role role, std::uint64_t id) {
  Hello hello;
  hello.role = role;
  hello.id = {id};
  for (std::size_t index = 0; index < kNonceBytes; ++index)
    hello.nonce[index] = static_cast<std::byte>(id * 37 + index * 11);
  return hello;
}

// Two sides and everything that went between them.
struct Talk {
  Talk(const Hello& first, const Hello& second, const Secret& first_secret, const Secret& second_secret)
      : connector(first_secret, first), acceptor(second_secret, second) {}
  Talk() : Talk(hello_of(Role::connector, 1), hello_of(Role::acceptor, 2), secret_of(5), secret_of(5)) {}

  // The n-th message on its way, which may be changed.
  using Tamper = std::function<void(std::size_t index, Bytes& message)>;

  Status pass(Handshake& from, Handshake& to, const Tamper& tamper) {
    Bytes message = from.take_output();
    if (message.empty()) return {};
    tamper(sent.size(), message);
    sent.push_back(message);
    std::span<const std::byte> rest(message);
    while (!rest.empty() && to.bytes_wanted() > 0) {
      const std::size_t count = std::min(rest.size(), to.bytes_wanted());
      TUTTI_TRY(to.receive(rest.first(count)));
      if (to.stage() == Handshake::Stage::agreed) to.begin_proofs();
      rest = rest.subspan(count);
    }
    return {};
  }

  // Until nothing moves any more.
  void run(const Tamper& tamper = [](std::size_t, Bytes&) {}) {
    for (int round = 0; round < 8; ++round) {
      if (Status status = pass(connector, acceptor, tamper); !status) acceptor_status = status;
      if (Status status = pass(acceptor, connector, tamper); !status) connector_status = status;
    }
  }
  bool is_connector_done() const { return connector.stage() == Handshake::Stage::done; }
  bool is_acceptor_done() const { return acceptor.stage() == Handshake::Stage::done; }

  Handshake connector;
  Handshake acceptor;
  Status connector_status;
  Status acceptor_status;
  std::vector<Bytes> sent;
};

TEST(Handshake, EndsWellBetweenTwoWhoKnowTheSecret) {
  Talk talk;
  talk.run();
  ASSERT_TRUE(talk.is_connector_done());
  ASSERT_TRUE(talk.is_acceptor_done());
  EXPECT_EQ(talk.connector.peer().id, ActorId{2});
  EXPECT_EQ(talk.acceptor.peer().id, ActorId{1});
  EXPECT_EQ(talk.connector.derive_key("x"), talk.acceptor.derive_key("x"));
  EXPECT_FALSE(talk.connector.derive_key("x") == talk.connector.derive_key("y"));
}

TEST(Handshake, TellsTheAcceptorThePurpose) {
  Hello hello = hello_of(Role::connector, 1);
  hello.purpose = Purpose::data;
  Talk talk(hello, hello_of(Role::acceptor, 2), secret_of(5), secret_of(5));
  talk.run();
  EXPECT_TRUE(talk.is_acceptor_done());
  EXPECT_EQ(talk.acceptor.purpose(), Purpose::data);
}

TEST(Handshake, SaysNothingToWhoHasSaidNothing) {
  Handshake acceptor(secret_of(5), hello_of(Role::acceptor, 2));
  EXPECT_TRUE(acceptor.take_output().empty());
}

TEST(Handshake, IsRefusedWhicheverBitOfWhicheverMessageIsChanged) {
  Talk whole;
  whole.run();
  ASSERT_EQ(whole.sent.size(), 3u);  // hello, hello and proof, proof
  for (std::size_t index = 0; index < whole.sent.size(); ++index) {
    for (std::size_t place = 0; place < whole.sent[index].size(); ++place) {
      for (int bit = 0; bit < 8; ++bit) {
        Talk talk;
        talk.run([&](std::size_t message, Bytes& bytes) {
          if (message == index && place < bytes.size()) bytes[place] ^= static_cast<std::byte>(1 << bit);
        });
        // The connector is done before the acceptor has seen its proof; nobody else may be.
        EXPECT_FALSE(talk.is_acceptor_done()) << "message " << index << ", byte " << place << ", bit " << bit;
        if (index < 2) {
          EXPECT_FALSE(talk.is_connector_done()) << "message " << index << ", byte " << place << ", bit " << bit;
        }
      }
    }
  }
}

TEST(Handshake, WaitsForTheRestOfATruncatedMessage) {
  Talk whole;
  whole.run();
  for (std::size_t index = 0; index < whole.sent.size(); ++index) {
    for (std::size_t length = 0; length < whole.sent[index].size(); ++length) {
      Talk talk;
      talk.run([&](std::size_t message, Bytes& bytes) {
        if (message == index) bytes.resize(length);
      });
      EXPECT_FALSE(talk.is_acceptor_done());
      EXPECT_NE(talk.acceptor.stage(), Handshake::Stage::failed);
    }
  }
}

TEST(Handshake, EndsWellAlsoByteByByte) {
  Handshake connector(secret_of(5), hello_of(Role::connector, 1));
  Handshake acceptor(secret_of(5), hello_of(Role::acceptor, 2));
  const auto feed = [](Handshake& from, Handshake& to) {
    for (const std::byte byte : from.take_output()) ASSERT_TRUE(to.receive({&byte, 1}));
  };
  feed(connector, acceptor);
  acceptor.begin_proofs();
  Bytes answer = acceptor.take_output();
  for (std::size_t index = 0; index < answer.size(); ++index) {
    if (connector.stage() == Handshake::Stage::agreed) connector.begin_proofs();
    ASSERT_TRUE(connector.receive({&answer[index], 1}));
  }
  feed(connector, acceptor);
  EXPECT_EQ(acceptor.stage(), Handshake::Stage::done);
}

TEST(Handshake, RefusesAnotherSecretOnBothSidesWithoutLeakingIt) {
  Talk talk(hello_of(Role::connector, 1), hello_of(Role::acceptor, 2), secret_of(5), secret_of(6));
  talk.run();
  for (const auto& [handshake, status] :
       {std::pair(&talk.connector, talk.connector_status), std::pair(&talk.acceptor, talk.acceptor_status)}) {
    EXPECT_EQ(handshake->stage(), Handshake::Stage::failed);
    EXPECT_EQ(handshake->fault(), Fault::wrong_secret);
    EXPECT_EQ(status.text(), "the other side does not know this job's secret");
  }
}

TEST(Handshake, RefusesAnotherMajorVersionOnBothSidesWithBothVersions) {
  for (const std::uint16_t major : {std::uint16_t{0}, std::uint16_t{2}}) {
    Hello other = hello_of(Role::acceptor, 2);
    other.version = {major, 7};
    Hello same = hello_of(Role::connector, 1);
    for (const bool is_swapped : {false, true}) {
      if (is_swapped) std::swap(other.version, same.version);
      Talk talk(same, other, secret_of(5), secret_of(5));
      talk.run();
      for (const Status& status : {talk.connector_status, talk.acceptor_status}) {
        EXPECT_EQ(status.code(), Code::unsupported);
        EXPECT_NE(status.text().find("version 1.0"), std::string_view::npos) << status.text();
        EXPECT_NE(status.text().find(std::to_string(major) + ".7"), std::string_view::npos) << status.text();
      }
      EXPECT_EQ(talk.acceptor.fault(), Fault::bad_version);
    }
  }
}

TEST(Handshake, UnderstandsAnotherMinorVersion) {
  Hello newer = hello_of(Role::acceptor, 2);
  newer.version.minor = 9;
  Talk talk(hello_of(Role::connector, 1), newer, secret_of(5), secret_of(5));
  talk.run();
  EXPECT_TRUE(talk.is_connector_done() && talk.is_acceptor_done());
  EXPECT_EQ(talk.connector.peer().version.minor, 9);
}

TEST(Handshake, RefusesWhenOnlyOneSideEncryptsOnBothSides) {
  for (const bool is_connector : {false, true}) {
    Hello first = hello_of(Role::connector, 1);
    Hello second = hello_of(Role::acceptor, 2);
    (is_connector ? first : second).encryption = Encryption::on;
    Talk talk(first, second, secret_of(5), secret_of(5));
    talk.run();
    for (const Status& status : {talk.connector_status, talk.acceptor_status})
      EXPECT_NE(status.text().find("TUTTI_ENCRYPT"), std::string_view::npos) << status.text();
    EXPECT_EQ(talk.acceptor.fault(), Fault::encryption_differs);
    EXPECT_EQ(talk.connector.fault(), Fault::encryption_differs);
  }
}

TEST(Handshake, RefusesAReplayToAnAcceptorWithAnotherNonce) {
  Talk heard;
  heard.run();
  Hello fresh = hello_of(Role::acceptor, 2);
  fresh.nonce[0] ^= std::byte{1};
  Handshake acceptor(secret_of(5), fresh);
  ASSERT_TRUE(acceptor.receive(heard.sent[0]));
  acceptor.begin_proofs();
  EXPECT_FALSE(acceptor.receive(heard.sent[2]));
  EXPECT_EQ(acceptor.fault(), Fault::wrong_secret);
}

TEST(Handshake, RefusesWhatIsReflected) {
  Handshake connector(secret_of(5), hello_of(Role::connector, 1));
  EXPECT_FALSE(connector.receive(connector.take_output()));
  EXPECT_EQ(connector.fault(), Fault::replay);
  // A liar who answers with a hello of its own and sends the acceptor's own proof back.
  Handshake acceptor(secret_of(5), hello_of(Role::acceptor, 2));
  ASSERT_TRUE(acceptor.receive(pack(hello_of(Role::connector, 3))));
  acceptor.begin_proofs();
  const Bytes output = acceptor.take_output();
  EXPECT_FALSE(acceptor.receive(std::span(output).last(kProofBytes)));
  EXPECT_EQ(acceptor.fault(), Fault::wrong_secret);
}

TEST(Handshake, EndsAtTheFirstByteThatIsNotOurs) {
  Handshake acceptor(secret_of(5), hello_of(Role::acceptor, 2));
  const std::byte wrong{'G'};
  EXPECT_EQ(acceptor.receive({&wrong, 1}).code(), Code::network);
  EXPECT_EQ(acceptor.fault(), Fault::garbage);
  EXPECT_EQ(acceptor.bytes_wanted(), 0u);
  EXPECT_TRUE(acceptor.take_output().empty());
}

TEST(Handshake, SurvivesGarbageOfAllSizesAfterAGoodStart) {
  Random random(7);
  for (std::size_t size = 0; size < 200; ++size) {
    Bytes garbage(size);
    const HelloBytes good = pack(hello_of(Role::connector, 1));
    const std::size_t kept = random.below(good.size());
    for (std::size_t index = 0; index < size; ++index)
      garbage[index] = index < kept ? good[index] : static_cast<std::byte>(random.next());
    Handshake acceptor(secret_of(5), hello_of(Role::acceptor, 2));
    std::span<const std::byte> rest(garbage);
    while (!rest.empty()) {
      if (acceptor.stage() == Handshake::Stage::agreed) acceptor.begin_proofs();
      const std::size_t count = std::min(rest.size(), acceptor.bytes_wanted());
      if (count == 0 || !acceptor.receive(rest.first(count))) break;
      rest = rest.subspan(count);
    }
    EXPECT_NE(acceptor.stage(), Handshake::Stage::done);
  }
}

}  // namespace
}  // namespace tutti::rpc
