// Hosts that meet, measure and go, as threads of one process.
#include "tools/tutti/check/party.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "os/clock.h"
#include "os/thread.h"
#include "tools/tutti/check/pair_measurement.h"
#include "tools/tutti/check/rank_program.h"

namespace tutti::tool::check {
namespace {

Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) { return Deadline::after(os::now(), wait); }

class PartyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("tutti-party-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    parties_.clear();
    std::filesystem::remove_all(folder_);
  }

  void join(Rank size) {
    parties_.resize(static_cast<std::size_t>(size));
    std::vector<os::Thread> threads;
    for (Rank rank = 0; rank < size; ++rank) {
      auto thread = os::Thread::start("party", [this, rank, size] {
        bootstrap::Launch launch{.rank = rank, .size = size, .store = "file:" + (folder_ / "store").string()};
        auto party = Party::join(launch, soon());
        EXPECT_TRUE(party) << party.status().text();
        if (party) parties_[static_cast<std::size_t>(rank)] = *std::move(party);
      });
      ASSERT_TRUE(thread);
      threads.push_back(*std::move(thread));
    }
  }

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<Party>> parties_;
};

TEST_F(PartyTest, TwoMeetAndMeasure) {
  join(2);
  ASSERT_TRUE(parties_[0] && parties_[1]);
  auto answering = os::Thread::start("answer", [&] {
    auto conduit = parties_[1]->meet(0, 0, soon());
    ASSERT_TRUE(conduit) << conduit.status().text();
    EXPECT_TRUE(answer_pair(*conduit, soon()));
  });
  auto conduit = parties_[0]->meet(1, 0, soon());
  ASSERT_TRUE(conduit) << conduit.status().text();
  PairEffort effort;
  effort.bandwidth_time = std::chrono::milliseconds(20);
  const auto numbers = measure_pair(*conduit, effort, soon());
  ASSERT_TRUE(numbers) << numbers.status().text();
  EXPECT_GT(numbers->latency_s, 0);
  EXPECT_GT(numbers->there_bytes_per_s, 0);
  EXPECT_GT(numbers->back_bytes_per_s, 0);
  EXPECT_LT(std::abs(numbers->clock_offset_s), 1) << "they have the same clock";
  EXPECT_NE(parties_[0]->way_to(1), "");
}

TEST_F(PartyTest, WhoHasGoneIsLostForAll) {
  join(3);
  ASSERT_TRUE(parties_[0] && parties_[1] && parties_[2]);
  parties_[2].reset();
  const auto first = parties_[0]->meet(2, 0, soon());
  ASSERT_FALSE(first);
  EXPECT_EQ(first.status().code(), Code::peer_lost) << first.status().text();
  // The other does not have to find out by itself: it hears the same words at once.
  const auto second = parties_[1]->meet(2, 0, soon());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().text(), first.status().text());
}

TEST_F(PartyTest, WhoLivesButDoesNotComeIsWaitedForUntilTheDeadline) {
  join(2);
  ASSERT_TRUE(parties_[0] && parties_[1]);
  for (const std::size_t waiting : {0, 1}) {
    const auto round = static_cast<Rank>(waiting);  // another one each time: the first leaves its call behind
    const auto conduit = parties_[waiting]->meet(1 - round, round, soon(std::chrono::nanoseconds(1)));
    ASSERT_FALSE(conduit);
    EXPECT_EQ(conduit.status().code(), Code::timed_out) << conduit.status().text();
  }
}

TEST(PartyCard, RefusesNonsense) {
  const PartyCard card{.contact = {ActorId{7}, {"10.0.0.1:5"}}, .offer = {.host = "a"}};
  const Bytes bytes = encode(card);
  const auto back = parse_card(bytes);
  ASSERT_TRUE(back) << back.status().text();
  EXPECT_EQ(back->contact, card.contact);
  EXPECT_EQ(back->offer, card.offer);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_card(std::span(bytes).first(size))) << size;
  }
}

TEST(Effort, ShrinksWithTheNumberOfHosts) {
  EXPECT_EQ(effort_for(2).bandwidth_time, std::chrono::milliseconds(200));
  EXPECT_EQ(effort_for(64).bandwidth_time, std::chrono::milliseconds(200));
  EXPECT_LT(effort_for(300).bandwidth_time, std::chrono::milliseconds(200));
  EXPECT_LT(time_for(300), std::chrono::minutes(1));
  EXPECT_EQ(time_for(1), std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace tutti::tool::check
