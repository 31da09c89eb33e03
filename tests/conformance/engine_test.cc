// The host engine against the reference, bit for bit: every algorithm for one host, driven step by step in an order
// that the seed draws, so that a failure can be repeated.
#include <gtest/gtest.h>

#include <deque>

#include "os/remote_memory.h"
#include "tests/conformance/world.h"
#include "tests/plans/seed.h"

namespace tutti::conformance {
namespace {

using namespace plan;

constexpr std::size_t kOutboxBytes = 24 << 10;

std::vector<ChunkMap> draw_maps(const Plan& plan, bool in_place, std::uint64_t most, Random& random) {
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 3, 7, 33, 100, 257, 1000, 3001};
  std::uint64_t count = kCounts[random.below(std::size(kCounts))];
  count = std::min(count, most);
  if (!has_variable_form(plan.collective) || random.below(2) == 0) return even_maps(plan, count);
  const bool is_square = plan.collective == Collective::all_to_all;
  const auto n = static_cast<std::size_t>(plan.ranks);
  std::vector<std::uint64_t> counts(is_square ? n * n : n);
  for (std::uint64_t& each : counts) each = random.below(3) == 0 ? 0 : random.below(count + 2);
  for (std::size_t i = 0; is_square && in_place && i < counts.size(); ++i) counts[i] = counts[i % n * n + i / n];
  auto maps = variable_maps(plan, counts);
  EXPECT_TRUE(maps.is_ok()) << maps.status().text();
  return maps ? *maps : even_maps(plan, count);
}

struct Wish {
  std::optional<DataType> type = {};
  std::optional<Op> op = {};
  std::uint64_t elements_max = 3001;
  std::optional<std::uint64_t> tile_bytes_max = {};
};

// A trial of the case with everything else drawn; nothing where it does not fit the world.
std::unique_ptr<Trial> draw_trial(const Case& proof, const World& world, const Wish& wish, Random& random) {
  auto trial = std::make_unique<Trial>();
  trial->proof = proof;
  const auto plan = build(*proof.algorithm, proof.shape);
  EXPECT_TRUE(plan.is_ok()) << plan.status().text();
  if (!plan) return nullptr;
  trial->plan = *plan;
  trial->type = wish.type.value_or(kDataTypes[random.below(kDataTypes.size())]);
  trial->op = wish.op.value_or(kOps[random.below(kOps.size())]);
  trial->maps = draw_maps(*plan, proof.shape.in_place, wish.elements_max, random);
  for (Rank rank = 0; rank < plan->ranks; ++rank) {
    constexpr double kFactors[] = {1, 2, 3, 0.5, 0.3};
    trial->factors.push_back(kFactors[random.below(std::size(kFactors))]);
    trial->is_in_place.push_back(proof.shape.in_place && random.below(4) != 0);
  }
  constexpr std::uint64_t kTiles[] = {64, 320, 2048, 512 << 10};
  trial->options = {.outbox_bytes = world.shape().outbox_bytes,
                    .tile_bytes_max = wish.tile_bytes_max.value_or(kTiles[random.below(4)])};
  if (random.below(2) == 0) trial->options.streaming_from_bytes = trial->options.streaming_copies_from_bytes = 0;
  trial->prefers_flash = random.below(2) == 0;
  trial->make_buffers(random);
  return trial;
}

bool can_reach_across() {
  std::byte byte{1};
  return os::can_write(getpid(), &byte, {&byte, 1});
}

std::vector<Sight> all_sights() {
  std::vector<Sight> sights = {Sight::same_process, Sight::mapped};
  if (can_reach_across()) sights.push_back(Sight::across);
  return sights;
}

// Worlds are used again and again: what a call leaves behind meets the next one.
class Worlds {
 public:
  World& of(Rank ranks, Sight sight) {
    auto& world = worlds_[{ranks, sight}];
    if (world == nullptr) world = std::make_unique<World>(ranks, kOutboxBytes, sight);
    return *world;
  }

 private:
  std::map<std::pair<Rank, Sight>, std::unique_ptr<World>> worlds_;
};

// Several calls in a row, so that fast ranks are calls ahead of slow ones.
class Batch {
 public:
  Batch(World& world, Random& random) : world_(world), random_(random) {}
  void add(const Case& proof, const Wish& wish = {}) {
    auto trial = draw_trial(proof, world_, wish, random_);
    if (trial == nullptr || !world_.add(*trial, random_.next())) return;
    trials_.push_back(std::move(trial));
  }
  std::string run() { return finish(world_.run(random_)); }
  std::string run_in_threads() {
    return finish(world_.run_in_threads(Deadline::after(os::now(), std::chrono::seconds(60))));
  }
  std::size_t size() const { return trials_.size(); }

 private:
  std::string finish(std::string failure) {
    trials_.clear();
    return failure.empty() ? failure : fmt::format("TUTTI_SEED={} {}", test_seed(), failure);
  }
  World& world_;
  Random& random_;
  std::vector<std::unique_ptr<Trial>> trials_;
};

constexpr std::size_t kBatch = 5;

std::vector<Case> cases_on_one_host(Rank ranks, std::uint32_t lanes) {
  std::vector<Case> cases;
  for_each_case(ranks, lanes, [&](const Case& proof) {
    if (proof.shape.host_of.empty()) cases.push_back(proof);
    return true;
  });
  return cases;
}

TEST(HostEngine, GivesTheBitsOfTheReferenceForEveryAlgorithm) {
  Random random(test_seed());
  Worlds worlds;
  for (Rank ranks = 1; ranks <= 5; ++ranks) {
    for (const std::uint32_t lanes : {1u, 2u}) {
      std::map<Sight, std::deque<Case>> waiting;
      for (const Case& proof : cases_on_one_host(ranks, lanes)) {
        for (const Reach reach : kReaches) {
          Case wider = proof;
          wider.shape.reach = reach;
          if (reach < proof.shape.reach || !proof.algorithm->fits(wider.shape)) continue;
          const auto sights = all_sights();
          waiting[sights[random.below(sights.size())]].push_back(wider);
        }
      }
      for (auto& [sight, cases] : waiting) {
        while (!cases.empty()) {
          Batch batch(worlds.of(ranks, sight), random);
          for (; batch.size() < kBatch && !cases.empty(); cases.pop_front()) batch.add(cases.front());
          ASSERT_EQ(batch.run(), "");
        }
      }
    }
  }
}

TEST(HostEngine, GivesTheBitsOfTheReferenceForEveryTypeAndOperation) {
  Random random(test_seed() + 1);
  Worlds worlds;
  constexpr Rank kRanks = 3;
  const std::vector<Case> cases = cases_on_one_host(kRanks, 1);
  for (const Collective collective : kCollectives) {
    std::vector<Case> fitting;
    std::copy_if(cases.begin(), cases.end(), std::back_inserter(fitting),
                 [&](const Case& proof) { return proof.algorithm->collective == collective; });
    ASSERT_FALSE(fitting.empty()) << name_of(collective);
    for (const DataType type : kDataTypes) {
      for (const Op op : kOps) {
        if (op != Op::sum && !reduces(collective)) continue;
        const Case& proof = fitting[random.below(fitting.size())];
        const auto sights = all_sights();
        Batch batch(worlds.of(kRanks, sights[random.below(sights.size())]), random);
        batch.add(proof, {.type = type, .op = op});
        ASSERT_EQ(batch.run(), "");
      }
    }
  }
}

// Calls of one size differ in nothing but the root: who writes where, and who still reads there, changes every time.
TEST(HostEngine, KeepsWhatSlowRanksStillReadWhenTheRootChanges) {
  Random random(test_seed() + 3);
  Worlds worlds;
  constexpr Rank kRanks = 4;
  const std::vector<Case> cases = cases_on_one_host(kRanks, 1);
  for (int round = 0; round < 300; ++round) {
    const Case& first = cases[random.below(cases.size())];
    if (!has_root(first.algorithm->collective) && first.algorithm->collective != Collective::send_receive) continue;
    Batch batch(worlds.of(kRanks, Sight::same_process), random);
    for (std::size_t i = 0; i < 2 * kBatch; ++i) {
      Case next = first;
      next.shape.root = static_cast<Rank>(random.below(kRanks));
      if (!next.algorithm->fits(next.shape)) continue;  // a message to oneself
      batch.add(next, {.type = DataType::int32, .op = Op::sum, .elements_max = 40, .tile_bytes_max = 64});
    }
    ASSERT_EQ(batch.run(), "");
  }
}

// The same from threads, where a thread sanitizer sees whether counters order the data.
TEST(HostEngine, GivesTheBitsOfTheReferenceInThreads) {
  Random random(test_seed() + 2);
  Worlds worlds;
  for (const Rank ranks : {2, 3}) {
    std::vector<Case> cases = cases_on_one_host(ranks, 2);
    for (int round = 0; round < 30; ++round) {
      Batch batch(worlds.of(ranks, Sight::same_process), random);
      while (batch.size() < kBatch) batch.add(cases[random.below(cases.size())], {.elements_max = 1000});
      ASSERT_EQ(batch.run_in_threads(), "");
    }
  }
}

}  // namespace
}  // namespace tutti::conformance
