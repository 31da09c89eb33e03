// Plans for several hosts have a form that reaches into buffers and one that goes through stages. Whether buffers can
// be reached is known inside a host alone, so hosts choose by themselves: both forms must say the same to other hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/random.h"
#include "tests/plans/expected.h"
#include "tests/plans/seed.h"

namespace tutti::plan {
namespace {

#ifdef TUTTI_HAS_SANITIZER
constexpr int kLayouts = 5;
#else
constexpr int kLayouts = 30;
#endif

// 2 to 4 hosts of 1 to 4 ranks, numbered host by host or in any order.
std::vector<std::uint32_t> random_hosts(Random& random) {
  std::vector<std::uint32_t> hosts;
  const auto count = static_cast<std::uint32_t>(2 + random.below(3));
  for (std::uint32_t host = 0; host < count; ++host) hosts.insert(hosts.end(), 1 + random.below(4), host);
  const bool is_mixed = random.below(3) == 0;
  for (std::size_t i = hosts.size(); is_mixed && i > 1; --i) std::swap(hosts[i - 1], hosts[random.below(i)]);
  return hosts;
}

// Both forms of one algorithm.
struct Twins {
  const Algorithm* algorithm = nullptr;
  Shape shape;
  Plan full;
  Plan staged;
};

std::vector<Shape> shapes_of(Collective collective, const std::vector<std::uint32_t>& hosts, Random& random) {
  std::vector<Shape> shapes;
  Shape shape;
  shape.collective = collective;
  shape.ranks = static_cast<Rank>(hosts.size());
  shape.host_of = hosts;
  shape.lanes = collective == Collective::barrier ? 1 : static_cast<std::uint32_t>(1 + random.below(3));
  shape.in_place = random.below(2) == 1;
  for (Rank root = 0; root < (has_root(collective) ? shape.ranks : 1); ++root) {
    shape.root = root;
    shapes.push_back(shape);
  }
  return shapes;
}

// Calls each(twins) for every algorithm that has both forms, in many layouts, with every root.
template <class Each>
void for_twins(Each each) {
  Random random(test_seed());
  int count = 0;
  for (int layout = 0; layout < kLayouts; ++layout) {
    const auto hosts = random_hosts(random);
    for (const Algorithm& algorithm : algorithms()) {
      for (Shape shape : shapes_of(algorithm.collective, hosts, random)) {
        Twins twins{&algorithm, shape, {}, {}};
        twins.shape.reach = shape.reach = Reach::full;
        if (!algorithm.fits(shape)) continue;
        twins.full = *build(algorithm, shape);
        shape.reach = Reach::stage;
        ASSERT_TRUE(algorithm.fits(shape)) << algorithm.name;
        twins.staged = *build(algorithm, shape);
        if (twins.full.programs == twins.staged.programs) continue;  // it knows no hosts
        each(twins, random);
        if (::testing::Test::HasFailure()) {
          FAIL() << "TUTTI_SEED=" << test_seed() << " " << Case{&algorithm, twins.shape}.text();
        }
        ++count;
      }
    }
  }
  EXPECT_GT(count, 10 * kLayouts);
}

void append_chunks(std::string& text, const Slice& slice) {
  for (std::uint32_t i = 0; i < slice.count; ++i) text += " " + std::to_string(slice.at(i));
}

// What a lane says to ranks of other hosts and hears from them, in order, with the chunks of every value.
std::string talk_of(const Plan& plan, Rank rank, const Lane& lane) {
  std::string talk;
  const auto note = [&](const char* what, Rank peer, const Slice* chunks) {
    if (peer == kNoRank || plan.shares_domain(rank, peer)) return;
    talk += std::string(what) + " " + std::to_string(peer);
    if (chunks != nullptr) append_chunks(talk, *chunks);
    talk += "\n";
  };
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Step& step = lane[i];
    const auto slices = step.source_count > 0 ? lane.sources(step) : lane.targets(step);
    const Slice* chunks = slices.empty() || slices[0].buffer == Buffer::scratch ? nullptr : slices.data();
    for (const Rank peer : lane.waits(step)) note("waits for", peer, nullptr);
    note("receives from", step.receive_from, chunks);
    note("sends to", step.send_to, chunks);
    for (const Rank peer : lane.signals(step)) note("signals", peer, nullptr);
  }
  return talk;
}

TEST(Twins, SayTheSameToOtherHostsMessageByMessage) {
  for_twins([](const Twins& twins, Random&) {
    EXPECT_EQ(twins.full.chunks, twins.staged.chunks);
    EXPECT_EQ(twins.full.slots, twins.staged.slots);
    for (std::size_t rank = 0; rank < twins.full.programs.size(); ++rank) {
      const auto& full = twins.full.programs[rank].lanes;
      const auto& staged = twins.staged.programs[rank].lanes;
      ASSERT_EQ(full.size(), staged.size());
      for (std::size_t lane = 0; lane < full.size(); ++lane) {
        const auto self = static_cast<Rank>(rank);
        EXPECT_EQ(talk_of(twins.full, self, full[lane]), talk_of(twins.staged, self, staged[lane])) << "rank " << rank;
      }
    }
  });
}

// One plan in which each host runs the form that was drawn for it.
Plan mix(const Twins& twins, Random& random) {
  Plan plan = twins.full;
  std::vector<bool> is_staged;
  for (std::size_t host = 0; host < 4; ++host) is_staged.push_back(random.below(2) == 1);
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    if (is_staged[plan.domain_of[rank]]) plan.programs[rank] = twins.staged.programs[rank];
  }
  return plan;
}

TEST(Twins, AreProvedInAnyMixtureOverTheHosts) {
  for_twins([](const Twins& twins, Random& random) {
    for (int mixture = 0; mixture < 3; ++mixture) {
      const auto result = check(mix(twins, random), {.in_place = twins.shape.in_place});
      const auto* fault = std::get_if<Fault>(&result);
      EXPECT_EQ(fault, nullptr) << fault->text();
    }
  });
}

// Runs the plan on numbers whose sums depend on the order of additions.
Memories run(const Plan& plan, const Twins& twins, DataType type, Op op, std::uint64_t seed) {
  const auto maps = even_maps(plan, 23);
  Memories memories = create_memories(maps, type);
  Random random(7);
  for (auto& bytes : twins.shape.in_place ? memories.out : memories.in) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() & 0x3f);
  }
  InterpretOptions options;
  options.type = type;
  options.op = op;
  options.seed = seed;
  options.tile_elements = seed % 3;
  options.in_place = twins.shape.in_place;
  for (Rank rank = 0; rank < plan.ranks; ++rank) options.factors.push_back(0.3 * (rank + 1));
  const Status status = interpret(plan, maps, options, memories);
  EXPECT_TRUE(status.is_ok()) << status.text();
  return memories;
}

TEST(Twins, GiveTheSameBitsInAnyMixtureOverTheHosts) {
  for_twins([](const Twins& twins, Random& random) {
    if (twins.shape.root > 0 && random.below(4) > 0) return;
    for (const auto& [type, op] :
         {std::pair(DataType::float32, Op::sum), std::pair(DataType::bfloat16, Op::sum),
          std::pair(DataType::float32, Op::average), std::pair(DataType::float64, Op::scaled_sum)}) {
      const Memories full = run(twins.full, twins, type, op, 1);
      EXPECT_EQ(run(twins.staged, twins, type, op, 2).out, full.out) << name_of(type) << " " << name_of(op);
      EXPECT_EQ(run(mix(twins, random), twins, type, op, 3).out, full.out) << name_of(type) << " " << name_of(op);
    }
  });
}

// A product that goes through a stage is rounded there. In narrow types that shows in the sum, but to all alike.
TEST(Twins, LeaveTheSameBitsOnEveryRankWhereInputsOfNarrowTypesAreScaled) {
  for_twins([](const Twins& twins, Random& random) {
    if (twins.shape.collective != Collective::all_reduce) return;
    for (const Op op : {Op::average, Op::scaled_sum}) {
      const Memories mixed = run(mix(twins, random), twins, DataType::bfloat16, op, 4);
      for (const auto& out : mixed.out) EXPECT_EQ(out, mixed.out[0]) << name_of(op);
    }
  });
}

// Calls each(slice) for the slices of a step that lie in stages.
template <class Each>
void for_staged(std::span<const Slice> slices, Each each) {
  for (const Slice& slice : slices) {
    if (slice.buffer == Buffer::stage) each(slice);
  }
}

// Engines give every lane its part of a stage.
TEST(Twins, LoadFromAStageWhatTheSameLaneHasStoredThere) {
  for_twins([](const Twins& twins, Random&) {
    std::set<std::tuple<std::size_t, Rank, std::uint32_t>> stored;  // lane, owner, chunk
    for (const bool is_store : {true, false}) {
      for (const Program& program : twins.staged.programs) {
        for (std::size_t index = 0; index < program.lanes.size(); ++index) {
          const Lane& lane = program.lanes[index];
          for (std::size_t i = 0; i < lane.size(); ++i) {
            for_staged(is_store ? lane.targets(lane[i]) : lane.sources(lane[i]), [&](const Slice& slice) {
              for (std::uint32_t c = 0; c < slice.count; ++c) {
                const std::tuple place(index, slice.owner, slice.at(c));
                if (is_store) stored.insert(place);
                EXPECT_TRUE(stored.contains(place)) << print_step(lane, i, slice.owner);
              }
            });
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace tutti::plan
