#include "bootstrap/exchange.h"

#include <gtest/gtest.h>

#include <thread>

#include "bootstrap/store/place_for_test.h"

namespace tutti::bootstrap {
namespace {

using Outcome = Result<std::vector<Bytes>>;

class Exchange : public testing::TestWithParam<Kind> {
 protected:
  struct Member {
    Rank rank;
    Rank size;
  };

  // Every member in a thread of its own, with its own handle.
  std::vector<Outcome> meet(const std::vector<Member>& members, Deadline deadline) {
    std::vector<Outcome> outcomes(members.size(), Status(Code::internal, "has not run"));
    std::vector<std::thread> threads;
    std::vector<Store*> stores;
    for (std::size_t index = 0; index < members.size(); ++index) stores.push_back(&place.open());
    for (std::size_t index = 0; index < members.size(); ++index)
      threads.emplace_back([&, index] {
        const auto [rank, size] = members[index];
        outcomes[index] = exchange(*stores[index], "start", rank, size, value_of(mine_of(rank)), deadline);
      });
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
  static std::string mine_of(Rank rank) { return "bytes of rank " + std::to_string(rank); }
  static bool is_complete(const Outcome& all, Rank size) {
    if (!all || all->size() != static_cast<std::size_t>(size)) return false;
    for (Rank rank = 0; rank < size; ++rank)
      if ((*all)[rank] != value_of(mine_of(rank))) return false;
    return true;
  }

  StorePlace place{GetParam()};
};

TEST_P(Exchange, EverybodyGetsEverybodysBytes) {
  constexpr Rank kSize = 8;
  std::vector<Member> members;
  for (Rank rank = 0; rank < kSize; ++rank) members.push_back({rank, kSize});
  for (const Outcome& outcome : meet(members, soon())) {
    ASSERT_TRUE(outcome) << outcome.status().text();
    EXPECT_TRUE(is_complete(outcome, kSize));
  }
}

TEST_P(Exchange, OneRankMeetsItself) { EXPECT_TRUE(is_complete(meet({{0, 1}}, soon())[0], 1)); }

TEST_P(Exchange, NobodyHasToLeaveAnything) {
  const auto all = exchange(place.open(), "start", 0, 1, {}, soon());
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->at(0).empty());
}

TEST_P(Exchange, NamesTheRanksThatDoNotCome) {
  for (const Outcome& outcome : meet({{0, 6}, {2, 6}, {4, 6}}, soon(std::chrono::milliseconds(20)))) {
    ASSERT_EQ(outcome.status().code(), Code::timed_out);
    const std::string text(outcome.status().text());
    EXPECT_TRUE(text.starts_with("ranks 1, 3 and 5 of 6 did not come within ")) << text;
    EXPECT_TRUE(text.ends_with("(they never reached 'start'); start them or raise start_timeout")) << text;
  }
}

TEST_P(Exchange, TheSecondOfOneRankIsRefused) {
  Store& store = place.open();
  EXPECT_EQ(exchange(store, "start", 1, 2, value_of("same"), passed()).status().code(), Code::timed_out);
  const auto second = exchange(place.open(), "start", 1, 2, value_of("same"), soon());
  ASSERT_EQ(second.status().code(), Code::invalid_usage);
  const std::string process = "process " + std::to_string(::getpid());
  EXPECT_NE(second.status().text().find("rank 1 of 2 is taken: " + process), std::string::npos)
      << second.status().text();
}

TEST_P(Exchange, DifferentSizesAreToldToAllWhoWait) {
  for (const Outcome& outcome : meet({{0, 4}, {1, 4}, {7, 8}}, soon())) {
    ASSERT_EQ(outcome.status().code(), Code::invalid_usage) << outcome.status().text();
    EXPECT_NE(outcome.status().text().find("size 4"), std::string::npos) << outcome.status().text();
    EXPECT_NE(outcome.status().text().find("size 8"), std::string::npos) << outcome.status().text();
  }
}

TEST_P(Exchange, RanksOutsideOfTheSizeAreRefusedBeforeTheyDoHarm) {
  Store& store = place.open();
  for (const auto [rank, size] : {Member{2, 2}, Member{-1, 2}, Member{0, 0}, Member{0, -3}})
    EXPECT_EQ(exchange(store, "start", rank, size, {}, soon()).status().code(), Code::invalid_argument);
  EXPECT_EQ(exchange(store, "start", 0, 1, Bytes(kExchangeBytesMax + 1), soon()).status().code(),
            Code::invalid_argument);
  EXPECT_TRUE(exchange(store, "start", 0, 1, Bytes(kExchangeBytesMax), soon()));
}

TEST_P(Exchange, TellsWhoIsWaitedForFirstSoonThenRarely) {
  Store& store = place.open();
  std::vector<std::string> lines;
  const auto progress = [&](std::string_view line) {
    lines.emplace_back(line);
    // The missing ones come only after the second line: without lines this would time out.
    if (lines.size() < 2) return;
    for (const Rank rank : {1, 2})
      static_cast<void>(exchange(store, "start", rank, 3, value_of(mine_of(rank)), passed()));
  };
  const ProgressPace pace{.first = std::chrono::milliseconds(1), .then = std::chrono::milliseconds(2)};
  const auto all = exchange(store, "start", 0, 3, value_of(mine_of(0)), soon(), progress, pace);
  ASSERT_TRUE(is_complete(all, 3));
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_EQ(line, "waiting for 2 of 3 ranks: 1, 2");
}

TEST_P(Exchange, SeveralOfDifferentNamesShareAStore) {
  Store& store = place.open();
  for (const std::string_view what : {"first", "second"}) {
    const auto all = exchange(store, what, 0, 1, value_of(what), soon());
    ASSERT_TRUE(all);
    EXPECT_EQ(all->at(0), value_of(what));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Exchange, testing::Values(Kind::process, Kind::file, Kind::unix_socket),
                         [](const auto& parameter) { return name_of(parameter.param); });

class ExchangeOfProcesses : public Exchange {};

TEST_P(ExchangeOfProcesses, ProcessesMeetAndLeaveNothingBehind) {
  constexpr Rank kSize = 6;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const auto work = [&](int rank) {
      const auto store = open_store(place.address(), rank, soon());
      if (!store) return false;
      const auto all = exchange(**store, "start", rank, kSize, value_of(mine_of(rank)), soon());
      return is_complete(all, kSize) && leave(**store, kSize).is_ok();
    };
    EXPECT_EQ(run_in_processes(kSize, work), kSize);
    EXPECT_TRUE(place.directory().is_empty());
  }
}

TEST_P(ExchangeOfProcesses, ProcessesThatMissOneLeaveNothingBehind) {
  constexpr Rank kSize = 4;
  const auto work = [&](int rank) {
    const auto store = open_store(place.address(), rank, soon());
    if (!store) return false;
    const auto all =
        exchange(**store, "start", rank, kSize, value_of(mine_of(rank)), soon(std::chrono::milliseconds(300)));
    // Rank 0 serves the socket: those who come late may find it gone, and say so.
    return all.status().text().starts_with("rank 3 of 4 did not come within ") ||
           all.status().code() == Code::peer_lost;
  };
  EXPECT_EQ(run_in_processes(kSize - 1, work), kSize - 1);
  EXPECT_TRUE(place.directory().is_empty());
}

INSTANTIATE_TEST_SUITE_P(All, ExchangeOfProcesses, testing::Values(Kind::file, Kind::unix_socket),
                         [](const auto& parameter) { return name_of(parameter.param); });

TEST(Leave, TheLastWhoLeavesRemovesTheFile) {
  StorePlace place(Kind::file);
  Store& one = place.open();
  Store& other = place.open();
  ASSERT_TRUE(leave(other, 2));
  EXPECT_FALSE(place.directory().is_empty());
  ASSERT_TRUE(leave(one, 2));
  EXPECT_TRUE(place.directory().is_empty());
  EXPECT_EQ(leave(one, 2).code(), Code::invalid_usage);
}

TEST(RanksText, ShortensLongLists) {
  EXPECT_EQ(ranks_text(std::vector<Rank>{4}), "rank 4");
  EXPECT_EQ(ranks_text(std::vector<Rank>{4, 23}), "ranks 4 and 23");
  EXPECT_EQ(ranks_text(std::vector<Rank>{4, 23, 40}), "ranks 4, 23 and 40");
  EXPECT_EQ(ranks_text(std::vector<Rank>{1, 2, 3, 4, 5, 6, 7, 8}), "ranks 1, 2, 3, 4, 5, 6, 7 and 8");
  EXPECT_EQ(ranks_text(std::vector<Rank>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
  EXPECT_EQ(ranks_list(std::vector<Rank>{4, 23, 40}), "4, 23, 40");
  EXPECT_EQ(ranks_list(std::vector<Rank>{1, 2, 3, 4, 5, 6, 7, 8, 9}), "1, 2, 3, 4, 5, 6, 7, 8 and 1 more");
}

TEST(OpenStore, SaysWhichFormsThereAre) {
  for (const std::string_view address :
       {"", "file", "file:", "unix:", "tcp://host:1", "/tmp/store", "unix:@name", "file:/tmp/", "File:/tmp/store"}) {
    const Status status = open_store(address, 0, soon()).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << address;
    EXPECT_NE(status.text().find("'file:/path'"), std::string::npos) << status.text();
    EXPECT_NE(status.text().find("'unix:/path'"), std::string::npos) << status.text();
  }
  EXPECT_EQ(parse_address("file:/a/b:c")->path, "/a/b:c");
  EXPECT_EQ(parse_address("unix:relative")->kind, StoreKind::unix_socket);
}

}  // namespace
}  // namespace tutti::bootstrap
