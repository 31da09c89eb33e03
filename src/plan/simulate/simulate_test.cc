#include "tutti/simulate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/simulate/flows.h"

namespace tutti::plan {
namespace {

// Ranks on one switch: an up and a down link each, and a memory so fast that it costs nothing.
class Switched : public Model {
 public:
  explicit Switched(Rank ranks) : ranks_(static_cast<std::uint32_t>(ranks)) {}
  std::size_t link_count() const override { return 3 * ranks_; }
  double bytes_per_s(std::uint32_t link) const override { return link < 2 * ranks_ ? 1e9 : 1e15; }
  std::string link_name(std::uint32_t link) const override { return "link " + std::to_string(link); }
  Route route(Rank from, Rank to, std::uint32_t) const override {
    const auto a = static_cast<std::uint32_t>(from);
    const auto b = static_cast<std::uint32_t>(to);
    if (a == b) return {{2 * ranks_ + a}, 0};
    return {{2 * a, 2 * b + 1}, latency_s};
  }
  double launch_s() const override { return launch; }
  double step_s() const override { return step; }

  double latency_s = 0;
  double launch = 0;
  double step = 0;

 private:
  std::uint32_t ranks_;
};

Plan built(const char* algorithm, Collective collective, Rank ranks, std::uint32_t lanes = 1) {
  Shape shape;
  shape.collective = collective;
  shape.ranks = ranks;
  shape.lanes = lanes;
  shape.peer = ranks - 1;
  const Algorithm* found = find_algorithm(algorithm, collective);
  shape.reach = found->reach;
  return *build(*found, shape);
}

Timeline run(const Plan& plan, const Model& model, std::uint64_t bytes, std::uint64_t tile = 1 << 30) {
  auto timeline =
      simulate(plan, model, {.elements = bytes, .element_bytes = 1, .tile_bytes = tile, .record_spans = true});
  EXPECT_TRUE(timeline.is_ok()) << timeline.status().text();
  return *timeline;
}

TEST(Simulate, AMessageTakesLatencyAndBytesByBandwidth) {
  Switched model(2);
  model.latency_s = 5e-6;
  model.launch = 1e-6;
  model.step = 2e-6;
  // The transfer, which hides the sender's step, the delay of its last byte, and the receiver's step.
  EXPECT_NEAR(run(built("pairwise", Collective::send_receive, 2), model, 1000000).total_s, 1e-6 + 1e-3 + 5e-6 + 2e-6,
              1e-8);
}

TEST(Simulate, ARingMovesTwiceTheVectorLessOneShare) {
  const Switched model(8);
  const double bytes = 8e6;
  EXPECT_NEAR(run(built("ring", Collective::all_reduce, 8), model, 8000000).total_s, 2 * 7.0 / 8 * bytes / 1e9, 1e-6);
}

TEST(Simulate, HopsCountWhereThereIsNoData) {
  Switched model(8);
  model.latency_s = 1e-6;
  EXPECT_NEAR(run(built("ring", Collective::all_reduce, 8), model, 0).total_s, 14e-6, 1e-9);
  EXPECT_NEAR(run(built("halving", Collective::all_reduce, 8), model, 0).total_s, 6e-6, 1e-9);
}

TEST(Simulate, TilesMakeAChainAPipeline) {
  const Switched model(5);
  const Plan chain = built("chain", Collective::broadcast, 5);
  EXPECT_NEAR(run(chain, model, 1000000).total_s, 4 * 1e-3, 1e-6);
  EXPECT_NEAR(run(chain, model, 1000000, 10000).total_s, 1e-3 + 3 * 1e-5, 1e-6);
}

TEST(Simulate, SendersToOneReceiverShareItsLink) {
  const Switched model(4);
  EXPECT_NEAR(run(built("pairwise", Collective::gather, 4), model, 1000000).total_s, 3e-3, 1e-5);
}

TEST(Simulate, ReachesCrossTheLinksOfBothSides) {
  const Switched model(4);
  // Each rank reads its quarter of three inputs and writes it to three outputs, and so do the others with its memory:
  // every link carries six quarters each way.
  EXPECT_NEAR(run(built("direct", Collective::all_reduce, 4), model, 4000000).total_s, 6e-3, 1e-5);
}

TEST(Simulate, LoadsFromStagesCrossTheLinksOfBothSides) {
  const Switched model(4);
  // Every rank loads three whole inputs in one round; in two rounds three quarters of inputs and three of sums.
  EXPECT_NEAR(run(built("publish", Collective::all_reduce, 4), model, 4000000).total_s, 12e-3, 1e-5);
  EXPECT_NEAR(run(built("staged", Collective::all_reduce, 4), model, 4000000).total_s, 6e-3, 1e-5);
}

TEST(Simulate, LanesShareAndDoNotMultiplyBandwidth) {
  const Switched model(4);
  const double one = run(built("ring", Collective::all_reduce, 4), model, 4000000).total_s;
  const double four = run(built("ring", Collective::all_reduce, 4, 4), model, 4000000).total_s;
  EXPECT_NEAR(four, one, one * 0.01);
}

TEST(Simulate, GivesTheSameTimelineEveryTime) {
  const Switched model(6);
  const Plan plan = built("tree", Collective::all_reduce, 6, 2);
  const Timeline first = run(plan, model, 123457, 1000);
  const Timeline second = run(plan, model, 123457, 1000);
  EXPECT_EQ(first.total_s, second.total_s);
  EXPECT_EQ(first.events, second.events);
  EXPECT_EQ(first.spans.size(), plan.step_count() * first.tiles);
}

TEST(Simulate, NamesTheBusiestLinksFirst) {
  const Switched model(4);
  const Timeline timeline = run(built("pairwise", Collective::gather, 4), model, 1000000);
  ASSERT_FALSE(timeline.busiest.empty());
  EXPECT_EQ(timeline.busiest[0].name, "link 1") << "into the root";
  EXPECT_NEAR(timeline.busiest[0].bytes, 3e6, 1);
  EXPECT_NEAR(timeline.busiest[0].busy_s, timeline.total_s, 1e-5);
}

TEST(Simulate, RefusesPlansThatBlockAndSizesThatOverflow) {
  const Switched model(2);
  const auto plan = parse("plan p barrier ranks=2 chunks=0 slots=1\nrank 0 lane 0\n  0 token <- 1\nrank 1 lane 0\n");
  EXPECT_NE(simulate(*plan, model, {}).status().text().find("can never run"), std::string_view::npos);
  const Plan ring = built("ring", Collective::all_reduce, 2);
  EXPECT_FALSE(
      simulate(ring, model, {.elements = ~0ull, .element_bytes = 8, .tile_bytes = 1, .record_spans = false}).is_ok());
}

TEST(Flows, SlowDownWhenOthersComeAndSpeedUpWhenTheyGo) {
  const Switched model(2);
  Flows flows(model);
  const std::vector<Flows::Crossing> link = {{0, 1}};
  flows.start(0, link, 1e9, 1);  // alone it takes a second
  EXPECT_DOUBLE_EQ(flows.next_time(), 1.0);
  flows.finish_until(0.5, [](std::uint64_t) { FAIL(); });
  flows.start(0.5, link, 0.25e9, 2);
  std::vector<std::pair<std::uint64_t, double>> ended;
  for (double now = flows.next_time(); now < 10; now = flows.next_time()) {
    flows.finish_until(now, [&](std::uint64_t owner) { ended.emplace_back(owner, now); });
  }
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].first, 2u);
  EXPECT_NEAR(ended[0].second, 1.0, 1e-6);  // half the link for half a second
  EXPECT_NEAR(ended[1].second, 1.25, 1e-6);
  EXPECT_NEAR(flows.busy_s(0), 1.25, 1e-6);
}

TEST(Draw, ThePictureHoldsEveryStepAndTheTraceIsJson) {
  const Switched model(4);
  const Plan plan = built("ring", Collective::all_reduce, 4);
  const Timeline timeline = run(plan, model, 4096);
  const std::string svg = draw_svg(plan, timeline, "a <title> & more");
  EXPECT_NE(svg.find("a &lt;title&gt; &amp; more"), std::string::npos);
  std::size_t titles = 0;
  for (std::size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1)) ++titles;
  EXPECT_EQ(titles, plan.step_count());
  const auto trace = nlohmann::json::parse(write_trace(plan, timeline));
  EXPECT_EQ(trace["traceEvents"].size(), plan.step_count() + 4);
}

}  // namespace
}  // namespace tutti::plan
