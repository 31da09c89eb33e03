#include <gtest/gtest.h>

#include "tutti/plan.h"
#include "tutti/prove.h"

namespace tutti::plan {
namespace {

TEST(TextForm, RoundTripsEveryAlgorithmExactly) {
  for (const Rank ranks : {1, 2, 3, 5}) {
    for (const std::uint32_t lanes : {1u, 2u}) {
      for_each_case(ranks, lanes, [&](const Case& proof) {
        const auto plan = build(*proof.algorithm, proof.shape);
        const std::string text = print(*plan);
        const auto parsed = parse(text);
        EXPECT_TRUE(parsed.is_ok()) << proof.text() << ": " << parsed.status().text();
        EXPECT_EQ(*parsed, *plan) << text;
        EXPECT_EQ(print(*parsed), text);
        return !::testing::Test::HasFailure();
      });
    }
  }
}

TEST(TextForm, ReadsEveryClauseOfAStep) {
  const std::string text =
      "plan mine all_reduce ranks=3 chunks=8 slots=4 reach=0-1|2  # a remark\n"
      "\n"
      "rank 0 lane 0\n"
      "  0  after 1.0; token <- 1 2; recv 1 + in[3] + 1:out[0:8:2] finish -> out[3] 1:out[3] -> send 2; token -> 1\n"
      "  1\n"
      "rank 0 lane 1\n"
      "  0  scratch[0:2] -> send 1\n";
  const auto plan = parse(text);
  ASSERT_TRUE(plan.is_ok()) << plan.status().text();
  const Lane& lane = plan->programs[0].lanes[0];
  const Step& step = lane[0];
  EXPECT_EQ(lane.after(step)[0], (Point{1, 0}));
  EXPECT_EQ(lane.waits(step).size(), 2u);
  EXPECT_EQ(step.receive_from, 1);
  EXPECT_EQ(lane.sources(step)[1], (Slice{.owner = 1, .chunk = 0, .count = 4, .stride = 2, .buffer = Buffer::out}));
  EXPECT_TRUE(step.finish);
  EXPECT_EQ(lane.targets(step).size(), 2u);
  EXPECT_EQ(step.send_to, 2);
  EXPECT_EQ(lane.signals(step)[0], 1);
  EXPECT_FALSE(lane[1].has_value());
  EXPECT_TRUE(plan->shares_domain(0, 1));
  EXPECT_FALSE(plan->shares_domain(1, 2));
  EXPECT_EQ(*parse(print(*plan)), *plan);
}

struct Mistake {
  const char* text;
  const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.message; }

class TextFormMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(TextFormMistakes, AreNamedWithTheirLine) {
  const auto plan = parse(GetParam().text);
  ASSERT_FALSE(plan.is_ok()) << GetParam().text;
  EXPECT_EQ(plan.status().code(), Code::invalid_argument);
  EXPECT_NE(plan.status().text().find(GetParam().message), std::string_view::npos) << plan.status().text();
}

constexpr const char* kTwo = "plan p all_reduce ranks=2 chunks=2 slots=2\n";
#define TWO "plan p all_reduce ranks=2 chunks=2 slots=2\nrank 0 lane 0\n"
INSTANTIATE_TEST_SUITE_P(
    All, TextFormMistakes,
    ::testing::Values(Mistake{"", "holds no plan"}, Mistake{"# only a remark\n", "holds no plan"},
                      Mistake{"plna p all_reduce ranks=2\n", "line 1: 'plna p all_reduce ranks=2' is not a header"},
                      Mistake{"plan p all_redcue ranks=2\n",
                              "line 1: 'all_redcue' is not a collective, did you mean 'all_reduce'?"},
                      Mistake{"plan p all_reduce chunks=2\n", "line 1: ranks=N is missing"},
                      Mistake{"plan p all_reduce ranks=two\n", "line 1: 'ranks=two' has no number"},
                      Mistake{"plan p all_reduce ranks=99999999\n", "line 1: ranks=99999999 is above the limit"},
                      Mistake{"plan p all_reduce ranks=2 chnuks=1\n",
                              "'chnuks' is not an attribute of a plan, did you mean 'chunks'?"},
                      Mistake{"plan p reduce root=5 ranks=2\n", "line 1: root=5 is not a rank from 0 to 1"},
                      Mistake{"plan p all_reduce ranks=3 reach=0-1\n", "rank 2 is in no group"},
                      Mistake{"plan p all_reduce ranks=3 reach=0-1|1-2\n", "rank 1 stands in two groups"},
                      Mistake{"plan p all_reduce ranks=3 reach=0-7\n", "is not a list of ranks below 3"},
                      Mistake{"plan p all_reduce ranks=3 reach=some:0-2\n", "'some' is not stage, load or full"},
                      Mistake{"plan p all_reduce ranks=3 reach=none:0-2\n", "'none' is not stage, load or full"},
                      Mistake{"plan p all_reduce ranks=2\n0 in[0] -> out[0]\n",
                              "line 2: '0 in[0] -> out[0]' stands before the first"},
                      Mistake{"plan p all_reduce ranks=2\nrank 2 lane 0\n", "line 2: '2' is not a rank from 0 to 1"},
                      Mistake{"plan p all_reduce ranks=2\nrank 0 lane 1\n",
                              "line 2: lane 1 of rank 0 stands where lane 0 is expected"},
                      Mistake{TWO "1 in[0] -> out[0]\n", "line 3: '1' is not the number of the next step, which is 0"},
                      Mistake{TWO "0 in[0 -> out[0]\n", "line 3: 'in[0' is not a slice"},
                      Mistake{TWO "0 inn[0] -> out[0]\n", "'inn[0]' is not a slice"},
                      Mistake{TWO "0 in[3:1] -> out[0]\n", "'in[3:1]' is not a slice"},
                      Mistake{TWO "0 in[0:3:2] -> out[0]\n", "'in[0:3:2]' is not a slice"},
                      Mistake{TWO "0 in[0:4:0] -> out[0]\n", "'in[0:4:0]' is not a slice"},
                      Mistake{TWO "0 in[0] + recv 1 -> out[0]\n", "'recv' is the first term"},
                      Mistake{TWO "0 recv 7 -> out[0]\n", "'7' is not a rank from 0 to 1"},
                      Mistake{TWO "0 in[0] ->\n", "'->' is followed by targets"},
                      Mistake{TWO "0 in[0] -> send 1 -> out[0]\n", "'send RANK' comes last, once"},
                      Mistake{TWO "0 in[0] -> send 1 -> send 1\n", "'send RANK' comes last, once"},
                      Mistake{TWO "0 in[0] -> out[0] -> out[1]\n", "stands where 'send RANK' is expected"},
                      Mistake{TWO "0 token -> 1; in[0] -> out[0]\n", "in this order: after; token <-; value; token ->"},
                      Mistake{TWO "0 token <-\n", "a token needs the ranks"},
                      Mistake{TWO "0 after 1; in[0] -> out[0]\n", "'1' is not a step of a lane such as 1.3"}));
#undef TWO

TEST(TextForm, NamesTheReachWhereItIsLessThanFull) {
  for (const Reach reach : {Reach::stage, Reach::load, Reach::full}) {
    const std::string level = reach == Reach::full ? "" : std::string(name_of(reach)) + ":";
    const std::string text = "plan p all_reduce ranks=3 chunks=2 slots=2 reach=" + level +
                             "0-1|2\nrank 0 lane 0\n  0  in[0:2] -> stage[0:2]\n  1  1:stage[1] -> out[1]\n";
    const auto plan = parse(text);
    ASSERT_TRUE(plan.is_ok()) << plan.status().text();
    EXPECT_EQ(plan->reach, reach);
    EXPECT_EQ(plan->programs[0].lanes[0].sources(plan->programs[0].lanes[0][1])[0].buffer, Buffer::stage);
    EXPECT_EQ(print(*plan), text);
  }
  EXPECT_EQ(print(*parse("plan p all_reduce ranks=2 reach=full:0-1")),
            "plan p all_reduce ranks=2 chunks=0 slots=2 reach=0-1\n");
}

TEST(TextForm, AcceptsCarriageReturnsAndNoFinalNewline) {
  const std::string text =
      std::string(kTwo) + "rank 0 lane 0\r\n  0  in[0] -> send 1\r\nrank 1 lane 0\n  0  recv 0 -> out[0]";
  EXPECT_TRUE(parse(text).is_ok());
}

}  // namespace
}  // namespace tutti::plan
