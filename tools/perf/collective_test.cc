#include "tools/perf/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tools/perf/pattern.h"

namespace tutti::perf {
namespace {

const Collective& named(std::string_view name) { return *find_collective(name); }

// What nccl-tests says of a size: bytes, ranks and the size of an element, then counts and offsets.
struct LayoutFact {
  const char* name;
  Shape shape;
  Layout layout;
};

class Layouts : public testing::TestWithParam<LayoutFact> {};

TEST_P(Layouts, AreThoseOfNcclTests) {
  const auto& [name, shape, expected] = GetParam();
  const Layout layout = named(name).layout(shape);
  EXPECT_EQ(layout.call_count, expected.call_count);
  EXPECT_EQ(layout.send_count, expected.send_count);
  EXPECT_EQ(layout.receive_count, expected.receive_count);
  EXPECT_EQ(layout.send_offset, expected.send_offset);
  EXPECT_EQ(layout.receive_offset, expected.receive_offset);
}

constexpr Shape kFloats{1000, 4, 3};   // 250 elements, 83 of each of 3 ranks, of which 80 are multiples of 16 bytes
constexpr Shape kBytes{1000, 1, 3};    // 333 of each, 320
constexpr Shape kDoubles{1000, 8, 3};  // 125, 41 of each, 40

INSTANTIATE_TEST_SUITE_P(Collectives, Layouts,
                         testing::Values(LayoutFact{"all_reduce", kFloats, {250, 250, 250, 0, 0}},
                                         LayoutFact{"all_reduce", kDoubles, {125, 125, 125, 0, 0}},
                                         LayoutFact{"reduce", kFloats, {250, 250, 250, 0, 0}},
                                         LayoutFact{"broadcast", kFloats, {250, 250, 250, 0, 0}},
                                         LayoutFact{"sendrecv", kFloats, {250, 250, 250, 0, 0}},
                                         LayoutFact{"all_gather", kFloats, {80, 80, 240, 80, 0}},
                                         LayoutFact{"all_gather", kBytes, {320, 320, 960, 320, 0}},
                                         LayoutFact{"gather", kFloats, {80, 80, 240, 80, 0}},
                                         LayoutFact{"hypercube", {1000, 4, 4}, {60, 60, 240, 60, 0}},
                                         LayoutFact{"reduce_scatter", kFloats, {80, 240, 80, 0, 80}},
                                         LayoutFact{"reduce_scatter", kDoubles, {40, 120, 40, 0, 40}},
                                         LayoutFact{"scatter", kFloats, {80, 240, 80, 0, 80}},
                                         LayoutFact{"alltoall", kFloats, {80, 240, 240, 0, 0}},
                                         LayoutFact{"alltoall", {8, 4, 8}, {0, 0, 0, 0, 0}}),
                         [](const auto& fact) {
                           return std::string(fact.param.name) + "_" + std::to_string(fact.param.shape.element_bytes) +
                                  "_" + std::to_string(fact.param.shape.ranks);
                         });

// Who gets something, and of whom the elements are: every rank has to have the pieces side by side.
void expect_tiles(const Collective& collective, const Shape& shape, int rank, int root) {
  std::vector<Piece> pieces = collective.pieces(shape, rank, root);
  std::ranges::sort(pieces, {}, &Piece::at);
  const Layout layout = collective.layout(shape);
  std::uint64_t covered = 0;
  for (const Piece& piece : pieces) {
    EXPECT_EQ(piece.at, covered) << collective.name << ": a hole or an overlap at rank " << rank;
    EXPECT_LE(piece.first + piece.count, layout.send_count) << collective.name << ": beyond the input";
    covered += piece.count;
  }
  EXPECT_LE(covered, layout.receive_count) << collective.name;
  const bool is_receiver = (collective.name != "reduce" && collective.name != "gather") || rank == root;
  if (collective.name == "alltoallv") return;  // ranks receive different amounts
  EXPECT_EQ(covered, is_receiver ? layout.receive_count : 0) << collective.name << ": rank " << rank;
}

TEST(Pieces, CoverWhatIsReceivedWithoutOverlap) {
  const Traffic traffic(1);
  for (const Collective& collective : collectives()) {
    for (const int ranks : {1, 2, 3, 8}) {
      if (collective.name == "hypercube" && ranks == 3) continue;
      for (const std::uint64_t bytes : {0, 8, 4096, 100000}) {
        const Shape shape{bytes, 4, ranks, &traffic};
        for (int rank = 0; rank < ranks; ++rank) expect_tiles(collective, shape, rank, ranks - 1);
      }
    }
  }
}

// Every element of every input that is only moved arrives as often as the collective says.
TEST(Pieces, OfAllRanksTakeEveryElementThatIsSent) {
  const Traffic traffic(0.5);
  const Shape shape{4096, 4, 4, &traffic};
  const std::map<std::string_view, std::uint64_t> copies = {{"all_gather", 4}, {"alltoall", 1}, {"alltoallv", 1},
                                                            {"sendrecv", 1},   {"gather", 1},   {"hypercube", 4}};
  for (const auto& [name, times] : copies) {
    const Collective& collective = named(name);
    std::map<int, std::uint64_t> taken;
    for (int rank = 0; rank < 4; ++rank) {
      for (const Piece& piece : collective.pieces(shape, rank, 0)) taken[piece.source] += piece.count;
    }
    for (int source = 0; source < 4; ++source)
      EXPECT_EQ(taken[source], times * collective.layout(shape).send_count) << name << " " << source;
  }
}

TEST(Pieces, OfReductionsAreOfAllRanks) {
  const Shape shape{4096, 4, 4};
  for (const char* name : {"all_reduce", "reduce_scatter", "reduce"}) {
    for (const Piece& piece : named(name).pieces(shape, 2, 2)) EXPECT_EQ(piece.source, Pattern::kAllRanks) << name;
  }
  EXPECT_EQ(named("reduce_scatter").pieces(shape, 2, 0).front().first, 512u);
}

TEST(Pieces, OfSendrecvComeFromTheRankBefore) {
  const Shape shape{4096, 4, 4};
  EXPECT_EQ(named("sendrecv").pieces(shape, 0, 0).front().source, 3);
  EXPECT_EQ(named("sendrecv").pieces(shape, 2, 0).front().source, 1);
}

TEST(Bandwidths, CountWhatNcclTestsCounts) {
  const Traffic traffic(0);
  const Shape shape{4096, 4, 4, &traffic};
  const std::map<std::string_view, std::pair<double, double>> expected = {
      {"all_reduce", {4096, 1.5}},  {"all_gather", {4096, 0.75}}, {"broadcast", {4096, 1}},
      {"reduce", {4096, 1}},        {"alltoall", {4096, 0.75}},   {"reduce_scatter", {4096, 0.75}},
      {"scatter", {4096, 0.75}},    {"gather", {4096, 0.75}},     {"sendrecv", {4096, 1}},
      {"hypercube", {3 * 1024, 1}}, {"alltoallv", {4096, 0.75}},
  };
  ASSERT_EQ(expected.size(), collectives().size());
  for (const Collective& collective : collectives()) {
    EXPECT_EQ(collective.moved_bytes(shape), expected.at(collective.name).first) << collective.name;
    EXPECT_EQ(collective.bus_factor(4), expected.at(collective.name).second) << collective.name;
  }
}

TEST(Collectives, AreFoundWithAndWithoutPerf) {
  EXPECT_EQ(find_collective("all_reduce"), find_collective("all_reduce_perf"));
  EXPECT_NE(find_collective("all_reduce"), nullptr);
  EXPECT_EQ(find_collective("all_reduce_per"), nullptr);
  EXPECT_EQ(find_collective("_perf"), nullptr);
}

}  // namespace
}  // namespace tutti::perf
