// Ranks that are killed at any moment: the others learn who it was, soon, and keep nothing.
#include <gtest/gtest.h>

#include <filesystem>

#include "bootstrap/store/place_for_test.h"
#include "comm/burial.h"
#include "device/host/heap.h"
#include "tests/conformance/scenario.h"
#include "tests/process/board.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"

namespace tutti::conformance {
namespace {

using bootstrap::TemporaryDirectory;

constexpr int kCallsMax = 1 << 20;
constexpr std::uint64_t kReadingBytes = 2 << 20;

// The i-th call of a rank's endless stream. Of large ones in plain memory most of the time goes into reading it.
Scenario draw_call(Random& random, int i, Rank size, std::uint64_t bytes_max) {
  Scenario scenario = draw_scenario(random, size, i % 4 == 0 ? bytes_max : bytes_max / 64);
  if (bytes_max < kReadingBytes) return scenario;
  scenario = {.collective = Collective::all_gather, .count = bytes_max, .counts = {}, .seed = random.next()};
  return scenario;
}

// Calls of all kinds until one fails; how the communicator ended. Later calls must fail with the same sentence.
std::string play_until_lost(Communicator& communicator, std::uint64_t seed, std::uint64_t bytes_max) {
  Random random(seed);
  for (int i = 0; i < kCallsMax; ++i) {
    const std::string failure = play(communicator, draw_call(random, i, communicator.size(), bytes_max));
    if (failure.empty()) continue;
    const Status why = communicator.health();
    if (why.is_ok()) return "a call failed and the communicator lives on: " + failure;
    const Status later = communicator.barrier();
    if (later.text() != why.text() || later.code() != why.code()) return "a later call says " + spoken(later);
    if (why.scope() != Scope::communicator) return "the scope is another: " + spoken(why);
    return spoken(why);
  }
  return "nobody was lost";
}

std::size_t files_in(const std::string& path) {
  std::error_code ignored;
  std::size_t count = 0;
  for (auto entry = std::filesystem::directory_iterator(path, ignored); entry != std::filesystem::directory_iterator();
       entry.increment(ignored)) {
    ++count;
  }
  return count;
}

void play_one_round(Random& random, int round) {
  const TemporaryDirectory directory;
  const Board board;
  const auto size = static_cast<Rank>(2 + random.below(3));
  const auto victim = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  const std::uint64_t seed = random.next();
  const std::uint64_t bytes_max = round % 4 == 1 ? kReadingBytes : 1 << 20;
  const std::uint64_t wait_us = random.below(round % 10 == 0 ? 50'000 : 5'000);
  const std::string context = fmt::format("TUTTI_SEED={} round {}, rank {} of {} killed after {} us", test_seed(),
                                          round, victim, size, wait_us);
  Crew crew(size, [&](int rank) {
    auto communicator = meet(rank, size, directory / "store");
    if (!communicator) return spoken(communicator.status());
    ++board.started();
    return play_until_lost(*communicator, seed, bytes_max);
  });
  ASSERT_TRUE(Board::wait_for(board.started(), static_cast<std::uint32_t>(size))) << context;
  EXPECT_TRUE(directory.is_empty()) << context << ": the store is still there";
  ::usleep(static_cast<useconds_t>(wait_us));
  crew.send(victim, SIGKILL);
  const auto texts = crew.finish(std::chrono::seconds(20));
  const std::string name = fmt::format("rank {} (pid {} on ", victim, crew.pid(victim));
  for (Rank rank = 0; rank < size; ++rank) {
    const std::string& text = texts[static_cast<std::size_t>(rank)];
    if (rank == victim) continue;
    EXPECT_TRUE(text.starts_with("peer lost: ")) << context << ": " << text;
    EXPECT_NE(text.find(name), std::string::npos) << context << ": " << text;
    EXPECT_NE(text.find("which has died"), std::string::npos) << context << ": " << text;
    EXPECT_NE(text.find("(call "), std::string::npos) << context << ": " << text;
    EXPECT_NE(text.find(" waited "), std::string::npos) << context << ": " << text;
    EXPECT_EQ(text, texts[victim == 0 ? 1 : 0]) << context << ": all say the same";
  }
}

TEST(KilledRanks, AreNamedByAllOthersWhateverTheyWereDoing) {
  Random random(test_seed());
  const std::size_t shared_before = files_in("/dev/shm");
  const std::size_t open_before = files_in("/proc/self/fd");
  const int rounds = runs_all() ? 2000 : 100;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) play_one_round(random, round);
  EXPECT_EQ(files_in("/dev/shm"), shared_before);
  EXPECT_EQ(files_in("/proc/self/fd"), open_before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child process is left";
}

// The survivor is in the middle of reading the victim's memory, which takes longer than the victim has.
TEST(KilledRanks, AreNamedWhenTheirMemoryIsBeingRead) {
  constexpr std::size_t kBytes = 64 << 20;
  Random random(test_seed() + 1);
  for (int round = 0; round < 10; ++round) {
    const TemporaryDirectory directory;
    const Board board;
    Crew crew(2, [&](int rank) -> std::string {
      CommunicatorOptions options{.rank = rank, .size = 2, .store = "file:" + (directory / "store")};
      options.algorithm = "pull";
      auto communicator = Communicator::create(options);
      if (!communicator) return spoken(communicator.status());
      std::vector<std::byte> in(kBytes, std::byte{1});
      std::vector<std::byte> out(2 * kBytes);
      ++board.started();
      const Call call{.collective = Collective::all_gather,
                      .in = in.data(),
                      .out = out.data(),
                      .count = kBytes,
                      .type = DataType::uint8};
      Status status;
      while (status) status = communicator->run(call);
      return status.code() == Code::unsupported ? "" : spoken(status);  // no reading between processes here
    });
    ASSERT_TRUE(Board::wait_for(board.started(), 2));
    ::usleep(static_cast<useconds_t>(random.below(30'000)));
    crew.send(1, SIGKILL);
    const std::string text = crew.finish()[0];
    if (text.empty()) break;
    EXPECT_TRUE(text.starts_with("peer lost: all_gather")) << text;
    EXPECT_NE(text.find(fmt::format("rank 1 (pid {} on ", crew.pid(1))), std::string::npos) << text;
    EXPECT_NE(text.find("which has died"), std::string::npos) << text;
  }
}

// One survivor and a new partner for every round, which ends in the middle of a call.
TEST(KilledRanks, LeaveNothingWithTheSurvivor) {
  constexpr int kRounds = 12;
  const TemporaryDirectory directory;
  const auto path = [&](int round) { return directory / std::to_string(round); };
  Crew crew(1 + kRounds, [&](int member) -> std::string {
    if (member > 0) {
      auto communicator = meet(1, 2, path(member - 1));
      if (!communicator) return spoken(communicator.status());
      Random random(7);
      for (int i = 0; i < member; ++i) play(*communicator, draw_call(random, i, 2, 1 << 18));
      ::raise(SIGKILL);
    }
    std::size_t open = 0;
    std::size_t used = 0;
    for (int round = 0; round < kRounds; ++round) {
      auto communicator = meet(0, 2, path(round));
      if (!communicator) return spoken(communicator.status());
      const std::string end = play_until_lost(*communicator, 7, 1 << 18);
      if (!end.starts_with("peer lost: ")) return end;
      communicator = Status(Code::aborted, "destroyed");
      if (comm::buried_count() != 0) return "memory of a round is still kept";
      const std::size_t open_now = files_in("/proc/self/fd");
      const std::size_t used_now = device::Heap::existing()->used_bytes();
      if (round == 0) std::tie(open, used) = std::pair(open_now, used_now);
      if (open_now > open)
        return fmt::format("{} descriptors after round {}, {} after the first", open_now, round, open);
      if (used_now > used) return fmt::format("{} bytes after round {}, {} after the first", used_now, round, used);
    }
    return {};
  });
  EXPECT_EQ(crew.finish()[0], "");
  EXPECT_TRUE(directory.is_empty());
}

}  // namespace
}  // namespace tutti::conformance
