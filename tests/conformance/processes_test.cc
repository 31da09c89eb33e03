// Communicators whose ranks are processes, or threads of several processes, against the definition of each collective.
#include <gtest/gtest.h>

#include "bootstrap/store/place_for_test.h"
#include "tests/conformance/party.h"
#include "tests/conformance/scenario.h"
#include "tests/process/crew.h"

namespace tutti::conformance {
namespace {

using bootstrap::TemporaryDirectory;

constexpr std::uint64_t kBytesMax = 3 << 20;

Result<Communicator> meet(Rank rank, Rank size, const std::string& store, const std::string& algorithm = {}) {
  CommunicatorOptions options = patient(algorithm);
  options.rank = rank;
  options.size = size;
  options.store = store;
  return Communicator::create(options);
}

// Every rank a process; the failures of all.
void in_processes(Rank size, const std::string& store, const std::string& algorithm,
                  const std::function<std::string(Communicator&)>& work) {
  Crew crew(size, [&](int rank) {
    auto communicator = meet(rank, size, store, algorithm);
    if (!communicator) return std::string(communicator.status().text());
    const std::string failure = work(*communicator);
    if (!failure.empty()) communicator->abort({Code::aborted, "a rank of the test has failed"});
    return failure;
  });
  for (const std::string& failure : crew.finish()) EXPECT_EQ(failure, "");
}

class CommunicatorInProcesses : public testing::TestWithParam<std::string> {
 protected:
  std::string store(std::string_view name) const { return GetParam() + ":" + (directory_ / name); }
  TemporaryDirectory directory_;
};

TEST_P(CommunicatorInProcesses, GivesWhatEveryCollectivePromises) {
  for (const Rank size : {1, 2, 3, 5}) {
    in_processes(size, store("all"), "", [&](Communicator& communicator) {
      return play_many(communicator, 150, size > 3 ? kBytesMax / 16 : kBytesMax,
                       100 + static_cast<std::uint64_t>(size));
    });
    if (HasFailure()) return;
  }
  EXPECT_TRUE(directory_.is_empty()) << "the store has left something behind";
}

TEST_P(CommunicatorInProcesses, RanksMayShareProcesses) {
  constexpr Rank kSize = 4;
  const std::string place = store("shared");
  Crew crew(2, [&](int process) {
    std::string failures[2];
    std::vector<std::thread> threads;
    for (Rank i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        auto communicator = meet(i * 2 + process, kSize, place);
        failures[i] = communicator ? play_many(*communicator, 100, kBytesMax / 4, 200) : text_of(communicator.status());
        if (communicator && !failures[i].empty()) communicator->abort({Code::aborted, "a rank has failed"});
      });
    }
    for (std::thread& thread : threads) thread.join();
    return failures[0] + failures[1];
  });
  for (const std::string& failure : crew.finish()) EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Stores, CommunicatorInProcesses, testing::Values("file", "unix"),
                         [](const auto& kind) { return kind.param; });

// What fits processes, in memory that they can map and in memory that they cannot.
TEST(AlgorithmsInProcesses, GiveWhatEveryCollectivePromises) {
  TemporaryDirectory directory;
  for (const std::string name :
       {"publish", "echo", "staged", "pull", "direct", "ring", "halving", "pairwise", "tree", "chain", "bruck"}) {
    in_processes(3, "file:" + (directory / name), name, [&](Communicator& communicator) -> std::string {
      for (const Collective collective : plan::kCollectives) {
        const bool exists = plan::find_algorithm(name, collective) != nullptr;
        if (!exists || collective == Collective::send_receive) continue;
        for (const Memories memories : {Memories::plain, Memories::shared, Memories::mixed}) {
          for (const std::uint64_t count : {1, 57, 3000, 70001}) {
            Scenario scenario{.collective = collective, .count = count, .counts = {}, .root = 2, .seed = count};
            scenario.memories = memories;
            const auto explained = communicator.explain({.collective = collective, .count = count, .root = 2});
            if (!explained) return "explain: " + text_of(explained.status());
            if (explained->find("cannot run") != std::string::npos)
              continue;  // it needs more reach than processes have
            const std::string failure = play(communicator, scenario);
            if (!failure.empty()) return failure;
            // Where it depends on the buffers, another plan may have run.
            const bool depends = explained->find("otherwise:") != std::string::npos;
            if (!depends && communicator.last_plan() != name) return "another plan ran: " + communicator.last_plan();
          }
        }
      }
      return {};
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::conformance
