// Jobs on several hosts that lose ranks and go on without them, again and again, or take in newcomers.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/conformance/scenario.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using conformance::play_many;
using std::chrono::seconds;

class Changes : public OnHosts {};

std::string add_up(Communicator& communicator, std::size_t count) {
  std::vector<std::int64_t> data(count, communicator.rank() + 1);
  if (const Status status = communicator.all_reduce(std::span<std::int64_t>(data)); !status) return spoken(status);
  const std::int64_t n = communicator.size();
  return data == std::vector<std::int64_t>(count, n * (n + 1) / 2) ? "" : fmt::format("a wrong sum, {}", data[0]);
}

// Calls until somebody is lost; then the others go on. Empty: they do, with right sums.
std::string lose_and_shrink(Communicator& communicator, Rank victim, std::optional<Communicator>& next) {
  const Rank size = communicator.size();
  if (communicator.rank() == victim) {
    const std::string failure = add_up(communicator, 1000);
    if (failure.empty()) ::raise(SIGKILL);
    return failure;
  }
  std::string failure;
  for (int i = 0; failure.empty(); ++i) failure = add_up(communicator, i % 2 == 0 ? 1000 : 200'000);
  if (!failure.starts_with("peer lost: ")) return failure;
  const Time begin = os::now();
  auto shrunk = communicator.shrink();
  if (!shrunk) return "shrink: " + spoken(shrunk.status());
  if (os::now().ns - begin.ns > 6'000'000'000) return "shrinking took too long";
  if (shrunk->size() != size - 1) return fmt::format("{} of {} ranks are left", shrunk->size(), size);
  const Rank expected = communicator.rank() - (communicator.rank() > victim ? 1 : 0);
  if (shrunk->rank() != expected) return fmt::format("rank {} became {}", communicator.rank(), shrunk->rank());
  next.emplace(*std::move(shrunk));
  failure = play_many(*next, 20, 1 << 18, 900);
  return failure;
}

struct Loss {
  std::vector<int> hosts;
  std::vector<Rank> victims;  // each in the ranks of what the one before left
};

TEST_F(Changes, SurvivorsShrinkAndGoOnAgainAndAgain) {
  const Loss losses[] = {{{0, 0, 1, 1}, {1, 2}},
                         {{0, 1, 1, 0}, {0, 0}},
                         {{0, 1, 2, 0, 1}, {2, 3}},
                         {{0, 1, 2}, {1, 1}},
                         {{0, 0, 1, 1, 2}, {4, 0}}};
  for (const Loss& loss : losses) {
    const Lab lab = create({.host_count = 3});
    Job job(lab, loss.hosts, [&](Communicator& communicator) -> std::string {
      std::vector<std::optional<Communicator>> kept(loss.victims.size());
      Communicator* current = &communicator;
      for (std::size_t i = 0; i < loss.victims.size(); ++i) {
        const std::string failure = lose_and_shrink(*current, loss.victims[i], kept[i]);
        if (!failure.empty()) return fmt::format("round {}: {}", i, failure);
        current = &*kept[i];
      }
      return add_up(*current, 5);
    });
    int killed = 0;
    for (const std::string& text : job.finish()) {
      killed += text == "(ended by signal 9)" ? 1 : 0;
      if (text != "(ended by signal 9)") {
        EXPECT_EQ(text, "") << job.logs();
      }
    }
    EXPECT_EQ(killed, static_cast<int>(loss.victims.size()));
    if (HasFailure()) return;
  }
}

TEST_F(Changes, AHostThatIsCutOffIsLeftBehind) {
  Lab lab = create({.host_count = 3});
  const Board board;
  const std::vector<int> hosts = {0, 1, 2, 0};
  Job job(lab, hosts,
          [&](Communicator& communicator) -> std::string {
            std::string failure = add_up(communicator, 10);
            ++board.started();
            while (failure.empty()) failure = add_up(communicator, 1000);
            if (!failure.starts_with("peer lost: ")) return failure;
            auto shrunk = communicator.shrink(seconds(5));
            if (communicator.rank() == 2) return shrunk ? "it goes on alone" : "";
            if (!shrunk) return "shrink: " + spoken(shrunk.status());
            if (shrunk->size() != 3) return fmt::format("{} ranks are left", shrunk->size());
            return add_up(*shrunk, 100'000);
          },
          {.environment = {{"TUTTI_SILENCE", "2"}}});
  ASSERT_TRUE(Board::wait_for(board.started(), 4)) << job.logs();
  ASSERT_TRUE(lab.cut(2));
  job.expect_success();
}

TEST_F(Changes, NewcomersMakeACommunicatorGrow) {
  const Lab lab = create({.host_count = 3});
  const Letter second;
  Job job(lab, {0, 1, 1, 2, 0}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank >= 3) {
      auto grown = Job::join(rank, 5, second.read());
      if (!grown) return "newcomer: " + spoken(grown.status());
      return play_many(*grown, 20, 1 << 18, 901);
    }
    auto communicator = Job::meet(rank, 3, letter);
    if (!communicator) return spoken(communicator.status());
    if (const std::string failure = add_up(*communicator, 100); !failure.empty()) return failure;
    if (rank == 0) {
      const auto identifier = Identifier::create();
      if (!identifier) return spoken(identifier.status());
      second.write(identifier->text());
    }
    const auto identifier = Identifier::parse(second.read());
    if (!identifier) return spoken(identifier.status());
    auto grown = communicator->grow(*identifier, 5);
    if (!grown) return "grow: " + spoken(grown.status());
    if (grown->rank() != rank || grown->size() != 5) return "another rank or size";
    if (const std::string failure = play_many(*grown, 20, 1 << 18, 901); !failure.empty()) return failure;
    return add_up(*communicator, 100);  // the old one still works
  });
  job.expect_success();
}

// Until somebody is lost; empty: somebody was.
std::string lose_somebody(Communicator& communicator) {
  std::string failure;
  for (int i = 0; failure.empty(); ++i) failure = add_up(communicator, i % 2 == 0 ? 1000 : 100'000);
  return failure.starts_with("peer lost: ") ? "" : failure;
}

TEST_F(Changes, APartShrinksWhileTheOthersGoOn) {
  const Lab lab = create({.host_count = 3});
  const Board board;
  // Ranks 0, 2, 3 and 5 are one part, of which rank 2 dies; the others another.
  Job job(lab, {0, 0, 1, 1, 2, 2}, [&](Communicator& communicator) -> std::string {
    const Rank rank = communicator.rank();
    const bool is_other = rank == 1 || rank == 4;
    auto part = communicator.split(is_other ? 1 : 0);
    if (!part) return spoken(part.status());
    if (const std::string failure = add_up(**part, 100); !failure.empty()) return failure;
    if (is_other) {
      if (!Board::wait_for(board.released(), 3)) return "the others have not shrunk";
      return play_many(**part, 20, 1 << 18, 902);
    }
    if (rank == 2) ::raise(SIGKILL);
    if (const std::string failure = lose_somebody(**part); !failure.empty()) return failure;
    auto shrunk = (*part)->shrink();
    ++board.released();
    if (!shrunk) return "shrink: " + spoken(shrunk.status());
    if (shrunk->size() != 3) return fmt::format("{} ranks are left", shrunk->size());
    return play_many(*shrunk, 20, 1 << 18, 903);
  });
  const auto texts = job.finish();
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    EXPECT_EQ(texts[rank], rank == 2 ? "(ended by signal 9)" : "") << "rank " << rank << " " << job.logs();
  }
}

// Rank 1 dies first, then rank 3; both times the same communicator shrinks.
TEST_F(Changes, OneCommunicatorShrinksTwice) {
  for (const bool is_part : {false, true}) {
    const Lab lab = create();
    Job job(lab, {0, 0, 1, 1, 0}, [&](Communicator& everybody) -> std::string {
      auto split = everybody.split(everybody.rank() == 4 ? Communicator::kNoColor : 0);
      if (!split) return spoken(split.status());
      if (everybody.rank() == 4 && is_part) return {};
      Communicator& communicator = is_part ? **split : everybody;
      if (const std::string failure = add_up(communicator, 100); !failure.empty()) return failure;
      if (communicator.rank() == 1) ::raise(SIGKILL);
      if (const std::string failure = lose_somebody(communicator); !failure.empty()) return failure;
      auto first = communicator.shrink();
      if (!first) return "first: " + spoken(first.status());
      if (const std::string failure = add_up(*first, 100); !failure.empty()) return failure;
      if (communicator.rank() == 3) ::raise(SIGKILL);
      if (const std::string failure = lose_somebody(*first); !failure.empty()) return failure;
      auto second = communicator.shrink();
      if (!second) return "second: " + spoken(second.status());
      if (second->size() != communicator.size() - 2) return fmt::format("{} ranks are left", second->size());
      return play_many(*second, 20, 1 << 18, 904);
    });
    const auto texts = job.finish();
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      const bool is_victim = rank == 1 || rank == 3;
      EXPECT_EQ(texts[rank], is_victim ? "(ended by signal 9)" : "") << is_part << " rank " << rank << job.logs();
    }
  }
}

TEST_F(Changes, ShrinkingWithoutALossKeepsEverybody) {
  const Lab lab = create();
  Job job(lab, {0, 1, 1}, [](Communicator& communicator) -> std::string {
    if (const std::string failure = add_up(communicator, 100); !failure.empty()) return failure;
    auto shrunk = communicator.shrink();
    if (!shrunk) return spoken(shrunk.status());
    if (shrunk->size() != 3) return fmt::format("{} ranks are left", shrunk->size());
    auto again = communicator.shrink();
    if (!again) return spoken(again.status());
    if (const std::string failure = add_up(*again, 100); !failure.empty()) return failure;
    return add_up(*shrunk, 100'000);
  });
  job.expect_success();
}

}  // namespace
}  // namespace tutti::network
