// Ranks that make different calls: each of them learns who makes which, whatever the difference is. Ranks are threads.
#include <gtest/gtest.h>

#include "tests/conformance/party.h"
#include "tests/conformance/scenario.h"

namespace tutti::conformance {
namespace {

struct Mismatch {
  std::string name;
  Call usual;
  Call other;
  std::string difference;
};

void combine_nothing(void*, const void*, std::size_t, void*) {}

const CustomOperation kFirst{.name = "first", .element_bytes = 4, .combine = &combine_nothing};
const CustomOperation kSecond{.name = "second", .element_bytes = 4, .combine = &combine_nothing};
const std::uint64_t kCounts[] = {1, 2, 3};
const std::uint64_t kOtherCounts[] = {2, 1, 3};

std::vector<Mismatch> mismatches(std::uint64_t count) {
  const auto with = [&](auto change) {
    Call call{.count = count};
    change(call);
    return call;
  };
  const auto rooted = [&](Collective collective, Rank root) {
    return with([&](Call& call) {
      call.collective = collective;
      call.root = root;
    });
  };
  const Call usual{.count = count};
  const std::string counts = fmt::format("count {} against {}", count, count + 1);
  return {
      {"collective", usual, rooted(Collective::reduce, 0), "all_reduce against reduce"},
      {"barrier", usual, rooted(Collective::barrier, 0), "all_reduce against barrier"},
      {"count", usual, with([&](Call& call) { call.count = count + 1; }), counts},
      {"much larger count", usual, with([&](Call& call) { call.count = 200'000; }),
       fmt::format("count {} against 200000", count)},
      {"type", usual, with([](Call& call) { call.type = DataType::int32; }), "type float32 against int32"},
      {"operation", usual, with([](Call& call) { call.reduction = Op::max; }), "operation sum against max"},
      {"root", rooted(Collective::broadcast, 0), rooted(Collective::broadcast, 1), "root 0 against 1"},
      {"reduce root", rooted(Collective::reduce, 2), rooted(Collective::reduce, 1), "root 2 against 1"},
      {"custom operation", with([](Call& call) { call.reduction = kFirst; }),
       with([](Call& call) { call.reduction = kSecond; }), "the custom operations"},
      {"variable form", with([](Call& call) { call.collective = Collective::all_gather; }),
       Call{.collective = Collective::all_gather, .counts = kCounts}, "all_gather against all_gather_v"},
      {"counts", Call{.collective = Collective::all_gather, .counts = kCounts},
       Call{.collective = Collective::all_gather, .counts = kOtherCounts}, "the counts"},
  };
}

// Either direction, since which of the two sees it first is chance.
bool tells(std::string_view text, const std::string& difference) {
  if (text.find(difference) != std::string_view::npos) return true;
  const std::size_t at = difference.find(" against ");
  if (at == std::string::npos) return false;
  const std::string left = difference.substr(0, at);
  const std::string right = difference.substr(at + 9);
  const std::size_t word = left.rfind(' ');
  const std::string kind = word == std::string::npos ? "" : left.substr(0, word + 1);
  const std::string turned = kind + right + " against " + (word == std::string::npos ? left : left.substr(word + 1));
  return text.find(turned) != std::string_view::npos;
}

class MismatchedCalls : public testing::TestWithParam<std::uint64_t> {};

TEST_P(MismatchedCalls, AreNamedOnEveryRank) {
  for (const Mismatch& mismatch : mismatches(GetParam())) {
    for (const Rank odd : {0, 2}) {
      auto party = create_party(3);
      std::vector<Status> ends(3);
      in_threads(party, [&](Communicator& c) -> std::string {
        std::vector<std::byte> in(4 << 20);
        std::vector<std::byte> out(4 << 20);
        Call call = c.rank() == odd ? mismatch.other : mismatch.usual;
        call.in = in.data();
        call.out = out.data();
        if (const Status s = c.barrier(); !s) return text_of(s);
        Status status = c.run(call);
        // Whoever waits for nobody in its call learns it in the next one that does.
        if (status) status = c.barrier();
        ends[static_cast<std::size_t>(c.rank())] = status;
        return {};
      });
      for (const Status& status : ends) {
        EXPECT_EQ(status.code(), Code::invalid_usage) << mismatch.name << ": " << status.text();
        EXPECT_EQ(status.text(), ends[0].text()) << mismatch.name;
      }
      const std::string_view text = ends[0].text();
      EXPECT_TRUE(tells(text, mismatch.difference)) << mismatch.name << ": " << text;
      EXPECT_NE(text.find(fmt::format("rank {} (pid", odd)), std::string_view::npos) << mismatch.name << ": " << text;
      EXPECT_NE(text.find("call 2 is not the same everywhere"), std::string_view::npos)
          << mismatch.name << ": " << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MismatchedCalls, testing::Values(1, 1000, 100'000));

}  // namespace
}  // namespace tutti::conformance
