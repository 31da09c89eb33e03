// Ranks that were told an address and nothing else.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "os/tcp_socket.h"
#include "tutti/communicator.h"

namespace tutti::comm {
namespace {

std::string free_address() {
  const auto listener = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  EXPECT_TRUE(listener) << listener.status().text();
  return listener->address().text();
}

// What one rank got for a sum of ones; 0: it failed.
struct Outcome {
  std::string failure;
  float sum = 0;
};

Outcome act(CommunicatorOptions options) {
  auto communicator = Communicator::create(options);
  if (!communicator) return {std::string(communicator.status().text())};
  float value = 1;
  const Status status = communicator->all_reduce(std::span(&value, 1));
  return {status ? "" : std::string(status.text()), value};
}

// Each rank makes one communicator after the other and waits for nobody in between. The outcomes of the last.
std::vector<Outcome> act_together(const std::string& address, const std::vector<CommunicatorOptions>& each,
                                  int rounds = 1) {
  std::vector<Outcome> outcomes(each.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < each.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto identifier = Identifier::of_address(address);
      if (!identifier) {
        outcomes[rank].failure = identifier.status().text();
        return;
      }
      CommunicatorOptions options = each[rank];
      options.rank = static_cast<Rank>(rank);
      options.size = static_cast<Rank>(each.size());
      options.store = "tcp:" + identifier->text();
      options.start_timeout = std::chrono::seconds(30);
      for (int round = 0; round < rounds && outcomes[rank].failure.empty(); ++round) outcomes[rank] = act(options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

TEST(FixedMeeting, RanksMeetWhereTheyWereToldOneCommunicatorAfterTheOther) {
  constexpr int kRounds = 3;
  for (const Outcome& outcome : act_together(free_address(), std::vector<CommunicatorOptions>(3), kRounds)) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(outcome.sum, 3);
  }
}

TEST(FixedMeeting, RanksThatWereAllowedDifferentAlgorithmsHearOfIt) {
  std::vector<CommunicatorOptions> each(2);
  each[1].allowed = {{.collective = plan::Collective::all_reduce, .names = {"ring"}}};
  for (const Outcome& outcome : act_together(free_address(), each)) {
    EXPECT_NE(outcome.failure.find("rank 0 and rank 1 were told to use different algorithms"), std::string::npos)
        << outcome.failure;
  }
}

TEST(FixedMeeting, AnAlgorithmThatDoesNotExistIsNoAlgorithmToAllow) {
  CommunicatorOptions options;
  options.allowed = {{.collective = plan::Collective::all_reduce, .names = {"rign"}}};
  const auto communicators = Communicator::create_local(2, options);
  ASSERT_FALSE(communicators);
  EXPECT_EQ(communicators.status().text(), "no algorithm is called 'rign'; 'tutti plan list' names them");
}

}  // namespace
}  // namespace tutti::comm
